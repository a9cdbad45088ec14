//! A plot that a scenario asks for: what is drawn, from which runs or cells, and the words and claims that it belongs to.

use serde_json::Value;

use super::adjustments::Adjustments;
use super::cell::{Cell, Column};
use super::reading::{Wrong, each, list, look, text};
use super::run::Run;
use super::strategy::Strategy;

/// A plot with what it was made for.
#[derive(Clone, Debug)]
pub(super) struct Exhibit {
    /// By which it can be asked for alone.
    pub(super) name: String,
    pub(super) title: String,
    /// What the source says that it shows.
    pub(super) shows: String,
    /// What else a reader should know.
    pub(super) note: String,
    /// Which claims it belongs to, by their number.
    pub(super) claims: Vec<usize>,
    /// The registry's name of what is drawn.
    pub(super) draws: String,
    /// From which runs.
    pub(super) strategies: Vec<Strategy>,
    /// From which cells.
    pub(super) cells: Vec<Cell>,
    /// Which columns of the cells, where that was chosen.
    pub(super) columns: Vec<Column>,
    pub(super) adjustments: Adjustments,
}

impl Exhibit {
    /// Reads an exhibit of a scenario with these cells.
    pub(super) fn read(raw: &Value, cells: &[Cell]) -> Result<Self, Wrong> {
        let own =
            list(raw, "cells")?.iter().filter_map(|index| cells.get(usize::try_from(index.as_u64()?).ok()?));
        let numbers = list(raw, "claims")?.iter().filter_map(Value::as_u64);
        let optional = |key| look(raw, key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self {
            name: text(raw, "name")?,
            title: text(raw, "title")?,
            shows: optional("shows"),
            note: optional("note"),
            claims: numbers.filter_map(|index| usize::try_from(index).ok()).collect(),
            draws: text(raw, "draw")?,
            strategies: each(raw, "runs", |run| Ok(Strategy::alone(text(run, "label")?, Run::read(run)?)))?,
            cells: own.cloned().collect(),
            columns: each(raw, "columns", Column::read)?,
            adjustments: Adjustments::read(raw, cells)?,
        })
    }
}
