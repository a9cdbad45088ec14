//! A strategy at one point of an experiment: what was varied, and its figures over seeds.

use std::collections::BTreeMap;

use serde_json::Value;
use vocabulary::duration_text;

use super::reading::{Wrong, as_number, look, missing, needed_number, number, text};

/// A figure of cells under its own name and in its own unit.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) figure: String,
    pub(super) minus: f64,
    pub(super) times: f64,
}

impl Column {
    /// Reads what a scenario chose.
    pub(super) fn read(raw: &Value) -> Result<Self, Wrong> {
        Ok(Self {
            title: text(raw, "title")?,
            figure: text(raw, "figure")?,
            minus: number(raw, "minus")?.unwrap_or(0.0),
            times: number(raw, "times")?.unwrap_or(1.0),
        })
    }

    /// Its value in a cell.
    pub(super) fn of(&self, cell: &Cell) -> Option<OverSeeds> {
        let scaled = |value: f64| (value - self.minus) * self.times;
        let seeds = cell.figures.get(&self.figure)?;
        Some(OverSeeds { mean: scaled(seeds.mean), p5: scaled(seeds.p5), p95: scaled(seeds.p95) })
    }
}

/// A strategy at one point of an experiment.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) experiment: String,
    pub(super) label: String,
    pub(super) strategy: String,
    /// What was varied, by its key.
    pub(super) at: BTreeMap<String, Setting>,
    pub(super) figures: BTreeMap<String, OverSeeds>,
}

/// A value of what was varied.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    /// It can be an axis. Durations are in seconds.
    Number(f64),
    /// It cannot.
    Text(String),
}

/// A figure over seeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverSeeds {
    pub(super) mean: f64,
    pub(super) p5: f64,
    pub(super) p95: f64,
}

impl Cell {
    /// Reads one cell.
    pub(super) fn read(raw: &Value) -> Result<Self, Wrong> {
        let entries = |key: &'static str| look(raw, key).and_then(Value::as_object).into_iter().flatten();
        let figures = look(raw, "figures").and_then(Value::as_object).ok_or_else(|| missing("figures"))?;
        let figures = figures.iter().filter(|(_, value)| !value.is_null()).map(|(path, value)| {
            let over_seeds = over_seeds(value).map_err(|wrong| wrong.within(&format!("figures.{path}")))?;
            Ok((path.clone(), over_seeds))
        });
        Ok(Self {
            experiment: text(raw, "experiment")?,
            label: text(raw, "label")?,
            strategy: text(raw, "strategy")?,
            at: entries("at")
                .map(|(key, value)| Ok((key.clone(), setting(value, key)?)))
                .collect::<Result<_, Wrong>>()?,
            figures: figures.collect::<Result<_, Wrong>>()?,
        })
    }
}

fn over_seeds(raw: &Value) -> Result<OverSeeds, Wrong> {
    let mean = needed_number(raw, "mean")?;
    Ok(OverSeeds { mean, p5: number(raw, "p5")?.unwrap_or(mean), p95: number(raw, "p95")?.unwrap_or(mean) })
}

fn setting(value: &Value, key: &str) -> Result<Setting, Wrong> {
    match value {
        Value::Number(_) => as_number(value, &format!("at.{key}")).map(Setting::Number),
        Value::String(text) => Ok(match duration_text::parse(text) {
            Ok(duration) => Setting::Number(duration.as_secs_f64()),
            Err(_) => Setting::Text(text.clone()),
        }),
        other => Ok(Setting::Text(other.to_string())),
    }
}
