//! What `loadgen reproduce` writes: experiments as cells with figures over seeds, and claims.

use serde_json::Value;

use super::cell::{Cell, Column};
use super::exhibit::Exhibit;
use super::reading::{Wrong, each, look, text};

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
    /// The plots that it asks for, in its order.
    pub(super) exhibits: Vec<Exhibit>,
    /// What makes it a sweep, if it is one.
    pub(super) sweep: Option<Sweep>,
    /// All that was read.
    pub(super) raw: Value,
}

/// What makes a scenario a sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// What was varied, in the order of the command line.
    pub(super) keys: Vec<String>,
    /// The figure that the best has least of, in words.
    pub(super) by: String,
    /// The best strategies, of situations in which one is best by more than chance.
    pub(super) winners: Vec<String>,
    /// Situations in which none is.
    pub(super) undecided: usize,
    /// What was found of them, in words.
    pub(super) best: Vec<String>,
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

impl Scenario {
    /// Reads one scenario.
    pub(super) fn read(raw: &Value) -> Result<Self, Wrong> {
        let cells = each(raw, "cells", Cell::read)?;
        let optional = |key| look(raw, key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self {
            name: text(raw, "name")?,
            title: optional("title"),
            source: optional("source"),
            about: optional("about"),
            claims: each(raw, "claims", claim)?,
            exhibits: each(raw, "plots", |plot| Exhibit::read(plot, &cells))?,
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
