//! Regression tests: figures of the built-in scenarios stay in their bands.
//!
//! These bands are around the project's own figures. They detect changes, and are no evidence for any source. Claims are judged by the
//! sources, whose tolerances would leave many changes unnoticed.

use std::collections::BTreeMap;

use super::figures::cells;
use crate::support::{built_in, scenario_of};

struct Band {
    /// Scenario, experiment and label of the strategy.
    of: [&'static str; 3],
    at: &'static [(&'static str, &'static str)],
    figure: &'static str,
    statistic: &'static str,
    from: f64,
    to: f64,
}

const fn band(of: [&'static str; 3], figure: &'static str, from: f64, to: f64) -> Band {
    Band { of, at: &[], figure, statistic: "mean", from, to }
}

const fn at(at: &'static [(&'static str, &'static str)], band: &Band) -> Band {
    Band { at, ..*band }
}

const fn max(band: &Band) -> Band {
    Band { statistic: "max", ..*band }
}

const SYNC: &str = "sync-musings";
const WAITS: &str = "retry-delays";
const TICKS: &str = "exploring-backoff";
const SHARED: &str = "ethernet";

const BANDS: &[Band] = &[
    band([SYNC, "main", "exponential"], "attempts.total", 17_350.0, 17_450.0),
    band([SYNC, "main", "exponential"], "makespan_s", 42.0, 48.0),
    band([SYNC, "main", "exponential"], "sent from 40 s on", 0.4, 1.3),
    band([SYNC, "main", "exponential"], "attempts/s, 3rd second", 3050.0, 3200.0),
    band([SYNC, "main", "exponential"], "ops done in 3 s", 50.0, 50.0),
    band([SYNC, "main", "aimd"], "attempts.total", 2086.0, 2090.0),
    band([SYNC, "main", "aimd"], "makespan_s", 25.15, 25.25),
    band([SYNC, "main", "aimd"], "optimal_makespan_s", 20.0, 20.2),
    band([SYNC, "main", "aimd 0.5"], "makespan_s", 30.5, 30.7),
    band([SYNC, "main", "aimd 0.5"], "attempts.rejected", 31.0, 33.0),
    band([SYNC, "main", "tahoe"], "attempts.total", 2079.0, 2083.0),
    band([SYNC, "main", "tahoe"], "makespan_s", 25.0, 25.4),
    band([SYNC, "worse", "no jitter"], "attempts.total", 22_000.0, 24_500.0),
    band([SYNC, "worse", "no jitter"], "makespan_s", 240.0, 330.0),
    band([SYNC, "worse", "immediate"], "stalled_at_s", 60.0, 63.0),
    band([SYNC, "worse", "immediate"], "ops.succeeded", 50.0, 50.0),
    at(&[("ops", "50")], &band([SYNC, "growth", "exponential"], "attempts.total", 50.0, 110.0)),
    at(&[("ops", "100")], &band([SYNC, "growth", "exponential"], "efficiency", 0.43, 0.47)),
    at(&[("ops", "5000")], &band([SYNC, "growth", "exponential"], "efficiency", 0.096, 0.100)),
    at(&[("ops", "10000")], &band([SYNC, "growth", "aimd"], "efficiency", 0.95, 1.0)),
    at(
        &[("reject_first", "5")],
        &band([WAITS, "waits", "full jitter"], "op_latency_ms.mean", 1530.0, 1570.0),
    ),
    at(
        &[("reject_first", "5")],
        &max(&band([WAITS, "waits", "full jitter"], "op_latency_ms.max", 2600.0, 3100.0)),
    ),
    at(
        &[("reject_first", "5")],
        &band([WAITS, "waits", "equal jitter"], "op_latency_ms.mean", 4630.0, 4670.0),
    ),
    at(&[("reject_first", "1")], &band([WAITS, "waits", "decorrelated"], "op_latency_ms.mean", 198.0, 202.0)),
    at(
        &[("reject_first", "5")],
        &band([WAITS, "waits", "decorrelated"], "op_latency_ms.mean", 3350.0, 3520.0),
    ),
    band([WAITS, "load", "linear"], "attempts.total", 37_000.0, 38_200.0),
    band([WAITS, "load", "exponential"], "attempts.total", 20_800.0, 21_700.0),
    band([TICKS, "text", "NB"], "overwhelmed ticks", 3700.0, 3740.0),
    band([TICKS, "text", "CB"], "overwhelmed ticks", 2950.0, 3080.0),
    band([TICKS, "text", "EB"], "overwhelmed ticks", 12.0, 16.0),
    band([TICKS, "text", "EB"], "aftershocks", 0.72, 0.80),
    band([TICKS, "text", "REB"], "aftershocks", -0.03, 0.07),
    band([TICKS, "text", "URB"], "spread of calls per tick", 4.4, 4.7),
    band([TICKS, "text", "NB"], "spread of calls per tick", 0.78, 0.82),
    band([TICKS, "text", "NB"], "done by 3000", 605.0, 610.0),
    band([TICKS, "figures", "NB 1"], "op_latency_ms.p99", 35_000.0, 35_500.0),
    band([TICKS, "figures", "NB 1"], "attempts.rejected", 84_200.0, 84_700.0),
    band([TICKS, "figures", "REB 1"], "op_latency_ms.p99", 2500.0, 2800.0),
    band([TICKS, "random", "NB"], "op_latency_ms.p99", 109_000.0, 117_000.0),
    at(&[("in_flight", "375")], &band([SHARED, "submitters", "fixed"], "ops.succeeded", 140.0, 160.0)),
    at(&[("in_flight", "400")], &band([SHARED, "submitters", "fixed"], "ops.succeeded", 0.0, 0.0)),
    at(&[("in_flight", "275")], &band([SHARED, "submitters", "ethernet"], "ops.succeeded", 630.0, 655.0)),
    at(&[("in_flight", "500")], &band([SHARED, "submitters", "ethernet"], "ops.succeeded", 485.0, 520.0)),
    at(&[("in_flight", "450")], &band([SHARED, "submitters", "aloha"], "ops.succeeded", 170.0, 184.0)),
    at(
        &[("outages", "0s..300s"), ("strategy.cap", "30s")],
        &max(&band([SHARED, "outage", "thain"], "op_latency_ms.max", 325_000.0, 330_000.0)),
    ),
    at(
        &[("outages", "0s..1800s"), ("strategy.cap", "3600s")],
        &max(&band([SHARED, "outage", "thain"], "op_latency_ms.max", 3_700_000.0, 3_960_000.0)),
    ),
    at(&[("strategy.cap", "60s")], &band([SHARED, "thousand", "thain"], "failed per second", 16.6, 16.8)),
    band(["occ", "clusters", "exponential"], "empty bins", 0.93, 0.95),
    band(["occ", "clusters", "full"], "empty bins", 0.0, 0.01),
    band(["occ", "clusters", "full"], "server.received", 790.0, 806.0),
    at(&[("clients", "200")], &band(["occ", "contention", "equal"], "server.received", 1860.0, 1885.0)),
];

#[test]
fn our_own_figures_stay_where_they_were() {
    let mut scenarios = BTreeMap::new();
    let mut moved = Vec::new();
    for Band { of: [scenario, experiment, label], at, figure, statistic, from, to } in BANDS {
        let scenario = scenarios.entry(*scenario).or_insert_with(|| scenario_of(built_in(scenario)));
        let found = cells(scenario).find(|cell| {
            let there = at.iter().all(|(key, value)| cell.at(key) == *value);
            cell.experiment() == *experiment && cell.label() == *label && there
        });
        let value = found.unwrap_or_else(|| panic!("no {experiment} {label} {at:?}")).of(figure, statistic);
        if !(*from..=*to).contains(&value) {
            moved.push(format!("{experiment} {label} {at:?} {figure}: {value}, not {from} to {to}"));
        }
    }
    assert!(moved.is_empty(), "{}", moved.join("\n"));
}
