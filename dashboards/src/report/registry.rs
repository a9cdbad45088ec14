//! Registry of plots, from which help texts and the report are generated.

use results::Basis;

use super::plots::{
    calls, clients, cost, delays, latency, over_time, service, share, summary, varied, window,
};
use super::{Document, Plot};

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

const fn entry(
    name: &'static str,
    summary: &'static str,
    needs: &'static str,
    basis: Basis,
    draw: fn(&Document) -> Vec<Plot>,
) -> Entry {
    Entry { name, summary, needs, basis, draw }
}

/// All plots that a report can show, in the order of the report.
pub const PLOTS: &[Entry] = &[
    entry("done", "ops done over time", RUNS, Basis::Runs, over_time::done),
    entry("pareto", "attempts against makespan", RUNS, Basis::Runs, cost::pareto),
    entry(
        "share",
        "attempts and server time per success against the share of ops done",
        "runs of several strategies, some of which left ops undone",
        Basis::Runs,
        share::pareto,
    ),
    entry(
        "rate-log",
        "attempts sent per second over time, logarithmic",
        RUNS,
        Basis::Runs,
        over_time::rate_log,
    ),
    entry("rate", "attempts sent per second over time", RUNS, Basis::Runs, over_time::rate),
    entry(
        "outcomes",
        "accepted requests per second over time; for a single strategy also rejected ones",
        RUNS,
        Basis::Runs,
        over_time::outcomes,
    ),
    entry("window", "window, ssthresh and in flight against the true cap", RUNS, Basis::Runs, window::window),
    entry("latency", "percentiles of op latency", RUNS, Basis::Runs, latency::percentiles),
    entry("latency-cdf", "share of ops done within each latency", RUNS, Basis::Runs, latency::cumulative),
    entry("ops", "attempts against ops", OPS, Basis::Cells, varied::attempts_by_ops),
    entry("efficiency", "efficiency against ops", OPS, Basis::Cells, varied::efficiency_by_ops),
    entry("clients", "completion against clients", CLIENTS, Basis::Chosen, varied::completion_by_clients),
    entry(
        "submitters",
        "jobs done against submitters",
        SUBMITTERS,
        Basis::Chosen,
        varied::jobs_by_submitters,
    ),
    entry(
        "varied",
        "figures against any other key that an experiment varied",
        "a scenario",
        Basis::Columns,
        varied::all_else,
    ),
    entry("summary", "figures of all strategies side by side", PLOT, Basis::Columns, summary::summary),
    entry("calls", "time of every call, one stroke for each", PLOT, Basis::Calls, calls::calls),
    entry(
        "per-client",
        "latency and requests of every client, sorted by latency",
        PLOT,
        Basis::Clients,
        clients::per_client,
    ),
    entry(
        "service",
        "queued, received, rejected and first requests in each time step",
        PLOT,
        Basis::Steps,
        service::service,
    ),
    entry("delays", "delay before every retry", PLOT, Basis::Waits, delays::delays),
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
