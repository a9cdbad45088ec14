//! Models without randomness equal tables made by hand and by independent programs exactly.

use std::fmt::Write as _;

use serde_json::Value;

use super::figures::cells;
use crate::support::reproduce_text;

/// Returns `value / unit`, which must be a whole number.
fn whole(value: f64, unit: f64) -> u64 {
    let count = (value / unit).round();
    assert!((value / unit - count).abs() < 1e-6, "{value} is no multiple of {unit}");
    format!("{count:.0}").parse().unwrap()
}

/// And n · (n + 1) / 2 calls, about half of n squared.
#[test]
fn contention_without_variance_takes_n_rounds() {
    let result = reproduce_text(
        r#"
name = "golden-contention"
title = "Messages that all take 10 ms"
repeats = 1
[workload]
delay_noise = "0s"
kind = "read-modify-write"
arrivals = "burst"
ops_per_client = 1
[server]
max_busy = 1000000
service_time = "0s"
reject_time = "0s"
network_delay = "10ms"
return_delay = "10ms"
[strategies]
none = "immediate"
exponential = "exponential:base=10ms,cap=2s"
[experiment.main]
vary = { clients = [1, 2, 5, 10, 50, 100] }
columns = [{ title = "time", figure = "makespan_s" }, { title = "calls", figure = "server.received" }]
"#,
    );
    let found: Vec<(u64, &str, u64, u64)> = cells(&result)
        .map(|cell| {
            let clients = cell.at("clients").parse().unwrap();
            (
                clients,
                cell.label(),
                whole(cell.mean("makespan_s"), 1e-3),
                whole(cell.mean("server.received"), 1.0),
            )
        })
        .collect();
    let table = [(1, 40, 40, 1), (2, 80, 90, 3), (5, 200, 350, 15), (10, 400, 4950, 55)];
    let table = table.into_iter().chain([(50, 2000, 86_550, 1275), (100, 4000, 188_550, 5050)]);
    let wanted: Vec<(u64, &str, u64, u64)> = table
        .flat_map(|(clients, none, exponential, calls)| {
            [(clients, "none", none, calls), (clients, "exponential", exponential, calls)]
        })
        .collect();
    assert_eq!(found, wanted);
}

/// Runs a scenario of the overwhelmed queue. Each op is a client of its own and arrives in the given tick of 10 ms.
fn queue(ticks: &[u64], policy: &str, strategies: &[(&str, &str)], completions: u64) -> Value {
    let at: Vec<String> = ticks.iter().map(|tick| format!("\"{}ms\"", tick * 10)).collect();
    let mut text = format!(
        "name = \"golden-queue\"\ntitle = \"Arrivals that are known\"\nrepeats = 1\n[workload]\nbins = \"10ms\"\n\
         delay_noise = \"0s\"\n\
         clients = {}\nat = [{}]\n[server]\npolicy = \"{policy}\"\nnetwork_delay = \"0s\"\n[strategies]\n",
        ticks.len(),
        at.join(", ")
    );
    for (label, strategy) in strategies {
        let _ = writeln!(text, "{label} = \"{strategy}\"");
    }
    let mut columns: Vec<String> = ["min", "mean", "p50", "p75", "p95", "p99", "max"]
        .iter()
        .map(|figure| format!("op_latency_ms.{figure}"))
        .chain(
            ["attempts.total", "attempts.rejected", "makespan_s", "attempts_per_op.max"].map(str::to_owned),
        )
        .collect();
    for tick in 0..completions {
        let _ = writeln!(
            text,
            "[figure.\"done at {tick}\"]\nkind = \"sum\"\nseries = \"succeeded\"\nfrom = {tick}\nto = {tick}"
        );
        columns.push(format!("done at {tick}"));
    }
    let _ = writeln!(text, "[experiment.main]\ncolumns = [");
    for figure in columns {
        let _ = writeln!(text, "{{ title = \"{figure}\", figure = \"{figure}\" }},");
    }
    text.push(']');
    reproduce_text(&text)
}

/// Percentiles 50, 75, 95, 99 and maximum in ticks, sum of latencies, requests, end tick, and largest number of failures of a client.
type Row = (&'static str, [f64; 5], u64, u64, u64, u64);

fn check_spike(policy: &str, strategies: &[(&str, &str)], rows: &[Row]) {
    let spike = (0..160).map(|client| 10 + 11 * client % 28);
    let background = (160..800).map(|client| 389 * (client - 160) % 1000);
    let ticks: Vec<u64> = spike.chain(background).collect();
    assert_eq!(ticks.iter().sum::<u64>(), 320_480);
    let result = queue(&ticks, policy, strategies, 0);
    for (cell, (label, percentiles, sum, requests, end, failures)) in cells(&result).zip(rows) {
        assert_eq!(cell.label(), *label);
        for (figure, wanted) in ["p50", "p75", "p95", "p99", "max"].iter().zip(percentiles) {
            let found = cell.mean(&format!("op_latency_ms.{figure}")) / 10.0;
            assert!((found - wanted).abs() < 1e-6, "{policy} {label} {figure}: {found}, not {wanted}");
        }
        let found = (
            whole(cell.mean("op_latency_ms.mean") * 800.0, 10.0),
            whole(cell.mean("attempts.total"), 1.0),
            whole(cell.mean("makespan_s"), 0.01) + 1,
            whole(cell.mean("attempts_per_op.max"), 1.0),
        );
        let most_attempts = failures + 1;
        assert_eq!(found, (*sum, *requests, *end, most_attempts), "{policy} {label}");
        assert_eq!(whole(cell.mean("attempts.rejected"), 1.0), requests - 800, "{policy} {label}");
    }
    assert_eq!(cells(&result).count(), rows.len());
}

/// Every integer agrees.
#[test]
fn an_overwhelmed_queue_matches_the_texts_parameters_exactly() {
    check_spike(
        "overwhelmed-queue:tick=10ms,capacity=5,service=5,reject=1,limit=25",
        &[("NB", "immediate"), ("CB", "constant:delay=50ms"), ("EB", "exponential:base=20ms,cap=300ms")],
        &[
            ("NB", [1518.0, 2522.75, 3389.15, 3682.01, 3730.0], 1_233_765, 89_407, 3743, 418),
            ("CB", [1373.5, 2284.5, 2949.55, 3089.06, 3125.0], 1_072_331, 73_172, 3152, 252),
            ("EB", [5.0, 22.0, 287.0, 411.0, 535.0], 39_672, 2583, 1005, 20),
        ],
    );
}

/// Every integer agrees.
#[test]
fn an_overwhelmed_queue_matches_the_figures_parameters_exactly() {
    check_spike(
        "overwhelmed-queue:tick=10ms,capacity=6,service=5,reject=1,limit=25",
        &[
            ("NB", "constant:delay=10ms"),
            ("CB", "constant:delay=50ms"),
            ("EB", "exponential:base=20ms,cap=300ms"),
        ],
        &[
            ("NB", [1537.5, 2459.75, 3295.3, 3508.0, 3545.0], 1_202_275, 84_942, 3576, 339),
            ("CB", [958.0, 1793.5, 2534.3, 2670.06, 2700.0], 813_514, 62_513, 2728, 241),
            ("EB", [5.0, 5.0, 195.0, 287.0, 318.0], 26_568, 2016, 1005, 13),
        ],
    );
}

const BY_HAND: &[(&str, &str)] =
    &[("NB", "immediate"), ("CB", "constant:delay=50ms"), ("EB", "exponential:base=20ms,cap=300ms")];

/// Checks requests, the largest number of failures, and the ticks in which clients finish. All clients arrive at tick 0.
fn check_by_hand(policy: &str, rows: &[(u64, &[u64], &[u64])]) {
    let clients = rows[0].1.len();
    let result = queue(&vec![0; clients], policy, BY_HAND, 50);
    assert_eq!(cells(&result).count(), rows.len());
    for (cell, (requests, latencies, failures)) in cells(&result).zip(rows) {
        let mut done = Vec::new();
        for tick in 0..50_u64 {
            let count = whole(cell.mean(&format!("done at {tick}")), 1.0);
            done.extend((0..count).map(|_| tick));
        }
        let mut wanted = latencies.to_vec();
        wanted.sort_unstable();
        assert_eq!(done, wanted, "{policy} {}", cell.label());
        assert_eq!(whole(cell.mean("attempts.total"), 1.0), *requests);
        assert_eq!(failures.iter().sum::<u64>() + latencies.len() as u64, *requests);
        assert_eq!(whole(cell.mean("attempts_per_op.max"), 1.0) - 1, *failures.iter().max().unwrap());
    }
}

#[test]
fn three_clients_of_one_place_are_served_as_by_hand() {
    check_by_hand(
        "overwhelmed-queue:tick=10ms,capacity=1,service=2,reject=1,limit=25",
        &[(9, &[2, 4, 6], &[0, 2, 4]), (6, &[2, 8, 14], &[0, 1, 2]), (6, &[2, 5, 10], &[0, 1, 2])],
    );
}

#[test]
fn ten_clients_of_an_overwhelmed_queue_are_served_as_by_hand() {
    check_by_hand(
        "overwhelmed-queue:tick=10ms,capacity=2,service=3,reject=1,limit=4",
        &[
            (61, &[3, 6, 12, 21, 24, 15, 24, 18, 9, 21], &[0, 0, 3, 7, 12, 4, 11, 5, 1, 8]),
            (27, &[3, 6, 9, 9, 15, 16, 22, 23, 29, 12], &[0, 0, 1, 1, 2, 2, 3, 3, 4, 1]),
            (29, &[3, 6, 9, 20, 12, 12, 22, 39, 23, 9], &[0, 0, 1, 3, 2, 2, 3, 4, 3, 1]),
        ],
    );
}

#[test]
fn one_client_alone_takes_five_ticks_and_one_request() {
    let policy = "overwhelmed-queue:tick=10ms,capacity=5,service=5,reject=1,limit=25";
    let result = queue(&[7], policy, BY_HAND, 0);
    for cell in cells(&result) {
        let found =
            (cell.mean("op_latency_ms.min"), cell.mean("op_latency_ms.max"), cell.mean("attempts.total"));
        assert_eq!(found, (50.0, 50.0, 1.0));
    }
}

/// It waits 1, 2, 4, … seconds, up to a cap.
#[test]
fn a_client_with_doubling_waits_notices_outage_ends_as_tabled() {
    let caps = ["1s", "10s", "30s", "60s", "300s", "3600s"];
    let table = [
        (1, [0, 0, 0, 0, 0, 0]),
        (10, [0, 5, 5, 5, 5, 5]),
        (30, [0, 5, 1, 1, 1, 1]),
        (32, [0, 3, 29, 31, 31, 31]),
        (300, [0, 5, 1, 3, 211, 211]),
        (1800, [0, 5, 1, 3, 211, 247]),
    ];
    let result = reproduce_text(
        r#"
name = "golden-outage"
title = "Outages"
repeats = 1
[workload]
delay_noise = "0s"
arrivals = "burst"
ops = 1
patience = "2h"
[server]
max_busy = 1
service_time = "0s"
reject_time = "0s"
network_delay = "0s"
[strategies]
plain = "exponential:base=1s,cap=1h"
[experiment.main]
vary = { outages = ["0s..1s", "0s..10s", "0s..30s", "0s..32s", "0s..300s", "0s..1800s"], "strategy.cap" = ["1s", "10s", "30s", "60s", "300s", "3600s"] }
columns = [{ title = "latency", figure = "op_latency_ms.max" }]
"#,
    );
    let mut wanted = Vec::new();
    for (outage, notices) in table {
        for (cap, notice) in caps.iter().zip(notices) {
            wanted.push((format!("0s..{outage}s"), (*cap).to_owned(), outage + notice));
        }
    }
    let found: Vec<(String, String, u64)> = cells(&result)
        .map(|cell| {
            let latency = whole(cell.mean("op_latency_ms.max"), 1000.0);
            (cell.at("outages").into_owned(), cell.at("strategy.cap").into_owned(), latency)
        })
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn linear_and_exponential_waits_are_the_printed_ones() {
    let result = reproduce_text(
        r#"
name = "golden-waits"
title = "Waits"
repeats = 1
[workload]
delay_noise = "0s"
arrivals = "burst"
ops = 3
[server]
max_busy = 10
service_time = "0s"
reject_time = "0s"
network_delay = "0s"
[strategies]
linear = "linear:base=100ms"
exponential = "exponential:base=100ms"
[experiment.main]
vary = { reject_first = [1, 2, 3, 4, 5] }
columns = [{ title = "shortest", figure = "op_latency_ms.min" }, { title = "longest", figure = "op_latency_ms.max" }]
"#,
    );
    let mut before = [0, 0];
    let mut waits = [Vec::new(), Vec::new()];
    for cell in cells(&result) {
        let strategy = usize::from(cell.label() == "exponential");
        let total = whole(cell.mean("op_latency_ms.max"), 1.0);
        assert_eq!(whole(cell.mean("op_latency_ms.min"), 1.0), total);
        waits[strategy].push(total - before[strategy]);
        before[strategy] = total;
    }
    assert_eq!(waits, [[100, 200, 300, 400, 500], [100, 200, 400, 800, 1600]]);
    assert_eq!(before, [1500, 3100]);
}
