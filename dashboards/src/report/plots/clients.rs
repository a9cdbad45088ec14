//! Plots with the results of every client: latency and requests, sorted by latency.

use super::drawn;
use crate::report::document::Document;
use crate::report::plot::{Axis, Plot, Series};
use crate::report::strategy::Strategy;

pub(in crate::report) fn per_client(document: &Document) -> Vec<Plot> {
    drawn(document).flat_map(|(_, strategy)| of(strategy)).collect()
}

fn of(strategy: &Strategy) -> Vec<Plot> {
    let run = strategy.median();
    let Some(clients) = run.recorded.as_ref().and_then(|run| run.clients.as_ref()) else {
        return Vec::new();
    };
    let who = if clients.by_op { "ops" } else { "clients" };
    let one = if clients.by_op { "op" } else { "client" };
    let x = || Axis::linear(&format!("{who}, sorted by latency"), "");
    let note = || format!("seed {}", run.seed);
    let ranks = || clients.rank.iter().map(|rank| *rank as f64);
    // A client without success has no latency.
    let latency = ranks().zip(clients.latency_s.iter().map(|latency| latency.unwrap_or(f64::NAN))).collect();
    let attempts = ranks().zip(clients.attempts.iter().map(|attempts| *attempts as f64)).collect();
    let latency = Plot {
        title: format!("Latency of every {one}: {}", strategy.label),
        x: x(),
        y: Axis::linear("latency", "s"),
        series: vec![Series::line("latency", 0, latency)],
        note: note(),
    };
    let requests = Plot {
        title: format!("Requests of every {one}: {}", strategy.label),
        x: x(),
        y: Axis::linear("requests", ""),
        series: vec![Series::line("requests", 0, attempts)],
        note: note(),
    };
    [latency, requests].into_iter().filter_map(Plot::if_any).collect()
}
