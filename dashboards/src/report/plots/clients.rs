//! Plots with the results of every client: latency and requests, sorted by latency.

use super::{capitalised, drawn};
use crate::report::{Axis, Document, Plot, Series, Strategy};

pub(in crate::report) fn per_client(document: &Document) -> Vec<Plot> {
    drawn(document).flat_map(|(_, strategy)| of(strategy)).collect()
}

fn of(strategy: &Strategy) -> Vec<Plot> {
    let run = strategy.median();
    let Some(clients) = run.recorded.as_ref().and_then(|run| run.clients.as_ref()) else {
        return Vec::new();
    };
    let (one, who) = if clients.by_op { ("op", "ops") } else { ("client", "clients") };
    let plot = |what: &str, unit, values: Vec<f64>| {
        let points = clients.rank.iter().map(|rank| *rank as f64).zip(values).collect();
        Plot::new(
            format!("{} of every {one}: {}", capitalised(what), strategy.label),
            Axis::linear(&format!("{who}, sorted by latency"), ""),
            Axis::linear(what, unit),
            [Series::line(what, 0, points)],
            format!("seed {}", run.result.seed),
        )
    };
    let latencies = clients.latency_s.iter().map(|latency| latency.unwrap_or(f64::NAN)).collect();
    let attempts = clients.attempts.iter().map(|attempts| *attempts as f64).collect();
    [plot("latency", "s", latencies), plot("requests", "", attempts)].into_iter().flatten().collect()
}
