//! The list of figures. Help texts and the report walk it.

use super::document::Document;
use super::drawings::{cost, latency, over_time, varied, window};
use super::figure::Figure;

/// A figure that can be drawn by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As it is typed.
    pub name: &'static str,
    /// What it shows.
    pub summary: &'static str,
    /// What it is drawn from.
    pub needs: &'static str,
    /// Draws it: several when every strategy has one of its own, none when the document lacks what it needs.
    pub draw: fn(&Document) -> Vec<Figure>,
}

const RUNS: &str = "runs";
const OPS: &str = "runs or a scenario with different numbers of ops";
const CLIENTS: &str = "runs or a scenario with different numbers of clients";
const SUBMITTERS: &str = "runs or a scenario with different `--in-flight`";

/// Every figure, in the order in which a report shows them.
pub const FIGURES: &[Entry] = &[
    Entry { name: "rate", summary: "attempts sent per second over time", needs: RUNS, draw: over_time::rate },
    Entry {
        name: "rate-log",
        summary: "the same on a logarithmic axis",
        needs: RUNS,
        draw: over_time::rate_log,
    },
    Entry {
        name: "outcomes",
        summary: "accepted and rejected per second over time",
        needs: RUNS,
        draw: over_time::outcomes,
    },
    Entry { name: "done", summary: "ops done over time", needs: RUNS, draw: over_time::done },
    Entry {
        name: "window",
        summary: "window, ssthresh and in flight against the true cap",
        needs: RUNS,
        draw: window::window,
    },
    Entry { name: "latency", summary: "percentiles of op latency", needs: RUNS, draw: latency::percentiles },
    Entry {
        name: "latency-cdf",
        summary: "share of ops done within a time",
        needs: RUNS,
        draw: latency::cumulative,
    },
    Entry { name: "pareto", summary: "attempts against makespan", needs: RUNS, draw: cost::pareto },
    Entry { name: "ops", summary: "attempts against ops", needs: OPS, draw: varied::attempts_by_ops },
    Entry {
        name: "efficiency",
        summary: "efficiency against ops",
        needs: OPS,
        draw: varied::efficiency_by_ops,
    },
    Entry {
        name: "clients",
        summary: "completion against clients",
        needs: CLIENTS,
        draw: varied::completion_by_clients,
    },
    Entry {
        name: "submitters",
        summary: "jobs done against submitters",
        needs: SUBMITTERS,
        draw: varied::jobs_by_submitters,
    },
    Entry {
        name: "varied",
        summary: "all else that an experiment varied and measured",
        needs: "a scenario",
        draw: varied::all_else,
    },
];

impl Entry {
    /// The figure of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FIGURES.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, entry) in FIGURES.iter().enumerate() {
            assert!(FIGURES[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
        }
    }
}
