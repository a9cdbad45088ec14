//! Cell of an experiment: one strategy with one combination of values of the varied settings. Its figures are summaries
//! over several seeds.

use std::collections::BTreeMap;

use results::{At, DrawnColumn, FiguresOverRuns, OverRuns};
use vocabulary::duration_text;

#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) experiment: String,
    pub(super) label: String,
    pub(super) strategy: String,
    pub(super) at: BTreeMap<String, Setting>,
    pub(super) figures: BTreeMap<String, OverSeeds>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    /// Value of a numeric setting, which can be drawn on an axis. Durations are in seconds.
    Number(f64),
    Text(String),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OverSeeds {
    pub(super) mean: f64,
    pub(super) p5: f64,
    pub(super) p95: f64,
}

impl Cell {
    pub(super) fn new(
        experiment: &str,
        label: &str,
        strategy: &str,
        at: &At,
        figures: &FiguresOverRuns,
    ) -> Self {
        Self {
            experiment: experiment.to_owned(),
            label: label.to_owned(),
            strategy: strategy.to_owned(),
            at: at.iter().map(|(key, value)| (key.clone(), setting(value))).collect(),
            figures: figures.iter().map(|(path, over)| (path.clone(), over_seeds(over))).collect(),
        }
    }

    /// Returns the value of a column: `(value - minus) * times`, which is the figure's value in the unit of the column.
    pub(super) fn value(&self, column: &DrawnColumn) -> Option<OverSeeds> {
        let scaled = |value: f64| (value - column.minus) * column.times;
        let seeds = self.figures.get(&column.figure)?;
        Some(OverSeeds { mean: scaled(seeds.mean), p5: scaled(seeds.p5), p95: scaled(seeds.p95) })
    }
}

fn over_seeds(over: &OverRuns) -> OverSeeds {
    OverSeeds { mean: over.mean, p5: over.p5.unwrap_or(over.mean), p95: over.p95.unwrap_or(over.mean) }
}

fn setting(value: &results::Setting) -> Setting {
    if let Some(number) = value.number() {
        return Setting::Number(number);
    }
    let text = value.to_string();
    match duration_text::parse(&text) {
        Ok(duration) => Setting::Number(duration.as_secs_f64()),
        Err(_) => Setting::Text(text),
    }
}
