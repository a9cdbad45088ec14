//! Tests of results in which one value is nonsense: each is refused with its place, or drawn.

use dashboards::report::{Document, PLOTS, html, svg};
use serde_json::{Value, json};

fn run(strategy: &str, seed: u64) -> Value {
    let point = |t_s: f64| {
        json!({ "t_s": t_s, "sent": 9, "succeeded": 5, "rejected": 1, "in_flight": 3.0, "window": 20.0,
                "ssthresh": null, "server_cap": 50.0,
                "gauges": [{ "name": "tokens", "unit": "", "value": 3.0 }] })
    };
    json!({
        "schema_version": 1, "mode": "simulated", "strategy": strategy, "seed": seed,
        "config": { "version": "0.1.0", "server": "simulated", "command_line": ["--simulate"], "seed": seed,
                    "workload": { "ops": 9, "clients": 1 }, "server_model": { "max_busy": 5, "seed": seed } },
        "ops": { "total": 9, "succeeded": 9, "given_up": 0 }, "attempts": { "total": 10 }, "amplification": 1.1,
        "efficiency": 0.9, "makespan_s": 2.0, "makespan_complete": true, "optimal_makespan_s": 1.5,
        "op_latency_ms": { "count": 9, "min": 1.0, "p50": 5.0, "p99": 9.0, "max": 9.0 },
        "stalled_at_s": null, "warnings": ["slow"], "series": [point(0.0), point(0.5), point(1.0)],
    })
}

fn documents() -> Vec<Value> {
    let over_seeds = json!({ "count": 2, "mean": 3.0, "p5": 2.0, "p95": 4.0, "interval": null });
    let cell = |clients: u64| {
        json!({ "experiment": "a", "label": "none", "strategy": "none", "at": { "clients": clients },
                "figures": { "makespan_s": over_seeds, "attempts.total": over_seeds } })
    };
    let claim = json!({ "says": "it grows", "published": "10", "ours": "11", "verdict": "holds",
                        "as_expected": true, "values": [{ "at": 5, "value": 1.0 }] });
    vec![
        run("aimd", 1),
        json!({ "runs": [run("aimd", 1), run("none", 1)],
                "comparison": { "by": "makespan_s", "pairs": [{ "words": "aimd wins" }] } }),
        json!({ "schema_version": 1, "scenarios": [
            { "name": "a", "seed": 1, "claims": [claim.clone()], "cells": [cell(5), cell(10)] }
        ] }),
        json!({ "schema_version": 1, "scenarios": [
            { "name": "a", "title": "A", "source": "b", "about": "c", "seed": 1, "claims": [claim],
              "cells": [cell(5), cell(10)], "plots": plots() }
        ] }),
    ]
}

fn drawn(name: &str, key: &str, kept: Value) -> Value {
    let mut run = json!({ "label": "none", "schema_version": 1, "mode": "simulated", "strategy": "none", "seed": 3,
                          "ops": { "total": 2, "succeeded": 1, "given_up": 0 }, "attempts": { "total": 3 },
                          "makespan_s": 2.0, "makespan_complete": false });
    run[key] = kept;
    json!({ "name": name, "draw": name, "title": "T", "claims": [0], "runs": [run] })
}

/// Creates one plot of every kind.
fn plots() -> Vec<Value> {
    let series = json!({ "step_s": 0.5, "sent": [9, 4], "succeeded": [1, 2], "rejected": [0, 1],
                         "in_flight": [1.0, null], "window": [20.0, 21.0], "server_cap": [5, 5],
                         "gauges": [{ "name": "tokens", "unit": "", "values": [3.0, null] }] });
    let clients =
        json!({ "by_op": true, "of": 2, "rank": [1, 2], "latency_s": [0.5, null], "attempts": [1, 9] });
    let mut varied = json!({ "name": "v", "draw": "varied", "title": "T", "shows": "S", "note": "N", "claims": [0],
                             "cells": [0, 1], "logarithmic": true,
                             "columns": [{ "title": "t s", "figure": "makespan_s", "minus": 1, "times": 10 }] });
    let mut summary = varied.clone();
    summary["draw"] = json!("summary");
    varied["logarithmic"] = json!(false);
    let mut rate = drawn("rate", "series", series);
    (rate["until_s"], rate["smooth_s"]) = (json!(0.8), json!(0.2));
    rate["time_unit"] = json!({ "s": 0.01, "name": "ticks" });
    vec![
        rate,
        drawn("calls", "calls", json!({ "every": 2, "full": false, "t_s": [0.0, 1.0], "op": [0, 2] })),
        drawn("per-client", "clients", clients),
        drawn("service", "steps", json!({ "step_s": 0.1, "sent": [1, 5], "queued": [1, 0] })),
        drawn("delays", "waits", json!([{ "retry": 1, "mean_s": 0.1, "p5_s": 0.0, "p95_s": 0.2 }])),
        summary,
        varied,
    ]
}

/// Collects the places of all values as JSON pointers; of lists only the first item.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => {
            let indexed = items.iter().enumerate().map(|(index, item)| (index.to_string(), item));
            // Plots differ in the data that they need; items of other lists are alike.
            indexed.take(if at.ends_with("plots") { usize::MAX } else { 1 }).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in entries {
        let place = format!("{at}/{key}");
        all.push(place.clone());
        places(value, &place, all);
    }
}

#[test]
fn nonsense_in_any_place_is_refused_or_drawn() {
    let nonsense = [json!(null), json!("<b>"), json!(-7), json!([]), json!({}), json!(1e300), json!([null])];
    let (mut refused, mut drawn) = (0, 0);
    for document in documents() {
        let mut all = Vec::new();
        places(&document, "", &mut all);
        for (place, nonsense) in all.iter().flat_map(|place| nonsense.iter().map(move |value| (place, value)))
        {
            let mut damaged = document.clone();
            *damaged.pointer_mut(place).expect("it is there") = nonsense.clone();
            let text = damaged.to_string();
            match Document::read(&[("a.json".to_owned(), text)]) {
                Ok(read) => {
                    drawn += 1;
                    assert!(!html(&read).contains("NaN"), "{place} {nonsense}");
                    for entry in PLOTS {
                        svg(&(entry.draw)(&read));
                    }
                }
                Err(error) => {
                    refused += 1;
                    let told = error.to_string();
                    assert!(told.starts_with("`a.json`") && !told.contains('\n'), "{place}: {told}");
                }
            }
        }
    }
    assert!(refused > 100 && drawn > 100, "{refused} refused, {drawn} drawn");
}
