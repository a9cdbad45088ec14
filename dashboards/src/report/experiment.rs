//! What `loadgen reproduce` writes: experiments as cells with figures over seeds, and claims.

use std::collections::BTreeMap;

use serde_json::Value;
use vocabulary::duration_text;

use super::plot::Plot;
use super::reading::{Wrong, as_number, each, look, missing, needed_number, number, text};
use super::sweep::Sweep;

/// One scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) about: String,
    pub(super) claims: Vec<Claim>,
    pub(super) cells: Vec<Cell>,
    /// What is drawn of the cells where that was chosen.
    pub(super) columns: Vec<Column>,
    /// The figures that it asks for, in its order.
    pub(super) plots: Vec<Plot>,
    /// What makes it a sweep, if it is one.
    pub(super) sweep: Option<Sweep>,
    /// All that was read.
    pub(super) raw: Value,
}

/// What a document says, and what came out.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) says: String,
    pub(super) published: String,
    pub(super) ours: String,
    pub(super) verdict: String,
    pub(super) as_expected: bool,
    /// Whether the scenario says it, and not its source.
    pub(super) ours_alone: bool,
    /// What was tested, in words, with what the source's words are taken to mean.
    pub(super) condition: String,
    /// What else a reader should know.
    pub(super) note: String,
}

/// A figure of cells under its own name and in its own unit.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) figure: String,
    pub(super) minus: f64,
    pub(super) times: f64,
}

impl Column {
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

impl Scenario {
    /// Reads one scenario.
    pub(super) fn read(raw: &Value) -> Result<Self, Wrong> {
        let cells = each(raw, "cells", cell)?;
        let optional = |key| look(raw, key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self {
            name: text(raw, "name")?,
            title: optional("title"),
            source: optional("source"),
            about: optional("about"),
            claims: each(raw, "claims", claim)?,
            plots: each(raw, "plots", |plot| Plot::read(plot, &cells))?,
            cells,
            columns: Vec::new(),
            sweep: None,
            raw: raw.clone(),
        })
    }
}

fn claim(raw: &Value) -> Result<Claim, Wrong> {
    let optional = |key| look(raw, key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Claim {
        says: text(raw, "says")?,
        published: optional("published"),
        ours: optional("ours"),
        verdict: optional("verdict"),
        // Null says that there were too few runs to tell.
        as_expected: raw.get("as_expected").is_some_and(|met| met.as_bool().unwrap_or(met.is_null())),
        ours_alone: look(raw, "ours_alone").and_then(Value::as_bool).unwrap_or(false),
        condition: match (optional("condition"), optional("means")) {
            (condition, means) if means.is_empty() => condition,
            (condition, means) => format!("{condition} ({means})"),
        },
        note: optional("note"),
    })
}

fn cell(raw: &Value) -> Result<Cell, Wrong> {
    let entries = |key: &'static str| look(raw, key).and_then(Value::as_object).into_iter().flatten();
    let figures = look(raw, "figures").and_then(Value::as_object).ok_or_else(|| missing("figures"))?;
    let figures = figures.iter().filter(|(_, value)| !value.is_null()).map(|(path, value)| {
        let over_seeds = over_seeds(value).map_err(|wrong| wrong.within(&format!("figures.{path}")))?;
        Ok((path.clone(), over_seeds))
    });
    Ok(Cell {
        experiment: text(raw, "experiment")?,
        label: text(raw, "label")?,
        strategy: text(raw, "strategy")?,
        at: entries("at")
            .map(|(key, value)| Ok((key.clone(), setting(value, key)?)))
            .collect::<Result<_, Wrong>>()?,
        figures: figures.collect::<Result<_, Wrong>>()?,
    })
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
