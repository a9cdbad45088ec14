//! Registry of plots, from which help texts and the report are generated.

use results::Basis;

use super::document::Document;
use super::plot::Plot;
use super::plots::{
    calls, clients, cost, delays, latency, over_time, service, share, summary, varied, window,
};

#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub name: &'static str,
    pub summary: &'static str,
    pub needs: &'static str,
    /// Data that a scenario must keep of its runs if it requests this plot.
    pub basis: Basis,
    /// Function that draws the plot. It returns several plots if every strategy has a plot of its own, and none if the
    /// document lacks the data.
    pub draw: fn(&Document) -> Vec<Plot>,
}

const RUNS: &str = "runs";
const OPS: &str = "runs or a scenario with several values of `--ops`";
const CLIENTS: &str = "runs or a scenario with several values of `--clients`";
const PLOT: &str = "a scenario that requests this plot under `[plot]`";
const SUBMITTERS: &str = "runs or a scenario with several values of `--in-flight`";

/// All plots that a report can show, in the order of the report.
pub const PLOTS: &[Entry] = &[
    Entry {
        name: "done",
        summary: "ops done over time",
        needs: RUNS,
        basis: Basis::Runs,
        draw: over_time::done,
    },
    Entry {
        name: "pareto",
        summary: "attempts against makespan",
        needs: RUNS,
        basis: Basis::Runs,
        draw: cost::pareto,
    },
    Entry {
        name: "share",
        summary: "attempts and server time per success against the share of ops done",
        needs: "runs of several strategies, some of which left ops undone",
        basis: Basis::Runs,
        draw: share::pareto,
    },
    Entry {
        name: "rate-log",
        summary: "attempts sent per second over time, logarithmic",
        needs: RUNS,
        basis: Basis::Runs,
        draw: over_time::rate_log,
    },
    Entry {
        name: "rate",
        summary: "attempts sent per second over time",
        needs: RUNS,
        basis: Basis::Runs,
        draw: over_time::rate,
    },
    Entry {
        name: "outcomes",
        summary: "accepted requests per second over time; for a single strategy also rejected ones",
        needs: RUNS,
        basis: Basis::Runs,
        draw: over_time::outcomes,
    },
    Entry {
        name: "window",
        summary: "window, ssthresh and in flight against the true cap",
        needs: RUNS,
        basis: Basis::Runs,
        draw: window::window,
    },
    Entry {
        name: "latency",
        summary: "percentiles of op latency",
        needs: RUNS,
        basis: Basis::Runs,
        draw: latency::percentiles,
    },
    Entry {
        name: "latency-cdf",
        summary: "share of ops done within each latency",
        needs: RUNS,
        basis: Basis::Runs,
        draw: latency::cumulative,
    },
    Entry {
        name: "ops",
        summary: "attempts against ops",
        needs: OPS,
        basis: Basis::Cells,
        draw: varied::attempts_by_ops,
    },
    Entry {
        name: "efficiency",
        summary: "efficiency against ops",
        needs: OPS,
        basis: Basis::Cells,
        draw: varied::efficiency_by_ops,
    },
    Entry {
        name: "clients",
        summary: "completion against clients",
        needs: CLIENTS,
        basis: Basis::Chosen,
        draw: varied::completion_by_clients,
    },
    Entry {
        name: "submitters",
        summary: "jobs done against submitters",
        needs: SUBMITTERS,
        basis: Basis::Chosen,
        draw: varied::jobs_by_submitters,
    },
    Entry {
        name: "varied",
        summary: "figures against any other key that an experiment varied",
        needs: "a scenario",
        basis: Basis::Columns,
        draw: varied::all_else,
    },
    Entry {
        name: "summary",
        summary: "figures of all strategies side by side",
        needs: PLOT,
        basis: Basis::Columns,
        draw: summary::summary,
    },
    Entry {
        name: "calls",
        summary: "time of every call, one stroke for each",
        needs: PLOT,
        basis: Basis::Calls,
        draw: calls::calls,
    },
    Entry {
        name: "per-client",
        summary: "latency and requests of every client, sorted by latency",
        needs: PLOT,
        basis: Basis::Clients,
        draw: clients::per_client,
    },
    Entry {
        name: "service",
        summary: "queued, received, rejected and first requests in each time step",
        needs: PLOT,
        basis: Basis::Steps,
        draw: service::service,
    },
    Entry {
        name: "delays",
        summary: "delay before every retry",
        needs: PLOT,
        basis: Basis::Waits,
        draw: delays::delays,
    },
];

impl Entry {
    pub fn named(name: &str) -> Option<&'static Self> {
        PLOTS.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, entry) in PLOTS.iter().enumerate() {
            assert!(PLOTS[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
        }
    }
}
