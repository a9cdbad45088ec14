//! Figures of a cell of an experiment: one strategy with one combination of values of the varied settings. The figures
//! are summaries over several seeds.

use results::{Cell, DrawnColumn, Setting};
use vocabulary::duration_text;

use super::Series;

#[derive(Clone, Copy, Debug)]
pub(super) struct OverSeeds {
    pub(super) mean: f64,
    pub(super) p5: f64,
    pub(super) p95: f64,
}

impl OverSeeds {
    /// Returns a figure of the cell in the unit of a column: `(value - minus) * times`.
    pub(super) fn new(cell: &Cell, figure: &str, minus: f64, times: f64) -> Option<Self> {
        let over = cell.figures.get(figure)?;
        let scaled = |value: f64| (value - minus) * times;
        let end = |end: Option<f64>| scaled(end.unwrap_or(over.mean));
        Some(Self { mean: scaled(over.mean), p5: end(over.p5), p95: end(over.p95) })
    }

    pub(super) fn in_column(cell: &Cell, column: &DrawnColumn) -> Option<Self> {
        Self::new(cell, &column.figure, column.minus, column.times)
    }

    /// Returns a line through the means, with a band from the 5th to the 95th percentile where these differ.
    pub(super) fn line(label: &str, look: usize, values: &[(f64, Self)]) -> Series {
        let spread = values.iter().filter(|(_, seeds)| seeds.p95 > seeds.p5);
        Series {
            band: spread.map(|(x, seeds)| (*x, seeds.p5, seeds.p95)).collect(),
            ..Series::line(label, look, values.iter().map(|(x, seeds)| (*x, seeds.mean)).collect())
        }
    }
}

/// Returns the value of a numeric setting, which can be drawn on an axis. Durations are in seconds.
pub(super) fn number_of(setting: &Setting) -> Option<f64> {
    let duration_s = || Some(duration_text::parse(&setting.to_string()).ok()?.as_secs_f64());
    setting.number().or_else(duration_s)
}
