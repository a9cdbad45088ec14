//! A sweep on the page: the answer, a line per strategy and point, and what is best.

use std::fmt::Write as _;

use serde_json::Value;

use super::measured::{server, work};
use crate::report::cell::{Cell, Setting};
use crate::report::document::Document;
use crate::report::escaping::escaped;
use crate::report::experiment::Scenario;
use crate::report::experiment::Sweep;
use crate::report::number::number;
use crate::report::reading::look;

/// More lines than one wants to scroll past.
const MANY: usize = 60;

/// More values than these are told by the first and the last.
const FEW: usize = 6;

/// Columns: head, path, and what a unit of the figure is in the unit of the column.
const COLUMNS: [(&str, &str, f64); 8] = [
    ("makespan s", "makespan_s", 1.0),
    ("attempts", "attempts.total", 1.0),
    ("attempts per op", "amplification", 1.0),
    ("op latency p50 s", "op_latency_ms.p50", 1e-3),
    ("p99 s", "op_latency_ms.p99", 1e-3),
    ("wasted server s", "wasted_server_s", 1.0),
    ("late", "late_share", 1.0),
    ("jain", "fairness.jain", 1.0),
];

fn sweeps(document: &Document) -> impl Iterator<Item = (&Scenario, &Sweep)> {
    document.scenarios.iter().filter_map(|scenario| Some((scenario, scenario.sweep.as_ref()?)))
}

/// Who is best, one sentence per sweep.
pub(super) fn answers(document: &Document) -> Vec<String> {
    sweeps(document).map(|(scenario, sweep)| answer(scenario, sweep)).collect()
}

/// What was measured: what was varied, and what else there was, a line per sweep.
pub(super) fn measured(document: &Document) -> String {
    sweeps(document).fold(String::new(), |mut told, (scenario, _)| {
        let config = look(&scenario.raw, "config").cloned().unwrap_or_default();
        let simulated = look(&config, "server").and_then(Value::as_str) == Some("simulated");
        let (mode, how) =
            if simulated { ("simulated", "simulated, in virtual time") } else { ("http", "over HTTP") };
        let whole = |key| look(&config, key).and_then(Value::as_u64).unwrap_or(1);
        let (first, repeats) = (whole("seed"), whole("repeats"));
        let seeds = match repeats {
            1 => format!("seed {first}"),
            repeats => format!("seeds {first}–{}", first.saturating_add(repeats - 1)),
        };
        let begun = look(&scenario.raw, "started_at").and_then(Value::as_str);
        let begun = begun.map(|at| format!("; begun {}", escaped(at))).unwrap_or_default();
        let mut first_point = vec![work(&config), server(mode, &config)];
        first_point.retain(|words| !words.is_empty());
        let _ = writeln!(
            told,
            "<p class=\"measured\">Varied: {}.<br>\nThe first point: {}; {how}, {seeds}{begun}</p>",
            escaped(&axes(&scenario.raw)),
            escaped(&first_point.join("; "))
        );
        told
    })
}

/// `ops 50, 100, 500; max-busy 10 to 80 (8 values)`.
fn axes(raw: &Value) -> String {
    let told = |axis: &Value| {
        let key = look(axis, "key").and_then(Value::as_str).unwrap_or_default();
        let values = look(axis, "values").and_then(Value::as_array).into_iter().flatten();
        let values: Vec<String> =
            values.map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)).collect();
        match values.as_slice() {
            [first, .., last] if values.len() > FEW => {
                format!("{key} {first} to {last} ({} values)", values.len())
            }
            _ => format!("{key} {}", values.join(", ")),
        }
    };
    let axes = look(raw, "axes").and_then(Value::as_array).into_iter().flatten();
    axes.map(told).collect::<Vec<_>>().join("; ")
}

fn answer(scenario: &Scenario, sweep: &Sweep) -> String {
    let code = |strategy: &str| format!("<code>{}</code>", escaped(strategy));
    let keys = sweep.keys.join(" and ");
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for winner in &sweep.winners {
        match counted.iter_mut().find(|(there, _)| there == winner) {
            Some((_, count)) => *count += 1,
            None => counted.push((winner, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let by = escaped(&sweep.by);
    let all = sweep.winners.len() + sweep.undecided;
    if sweep.undecided > 0 {
        let nobody = format!("nobody has the least {by} by more than chance");
        let winners: Vec<String> =
            counted.iter().map(|(strategy, count)| format!("{} has in {count}", code(strategy))).collect();
        return match (sweep.undecided, winners.as_slice()) {
            (1, []) => format!("{}{}.", nobody[..1].to_uppercase(), &nobody[1..]),
            (undecided, []) => {
                format!("In none of {undecided} situations has anybody the least {by} by more than chance.")
            }
            (undecided, winners) => {
                format!("In {undecided} of {all} situations {nobody}; {}.", winners.join(", "))
            }
        };
    }
    match counted.as_slice() {
        [] => format!("{} strategies at every point of {}.", labels(scenario), escaped(&keys)),
        [(one, 1)] => format!("{} has the least {}.", code(one), escaped(&sweep.by)),
        [(one, count)] => {
            format!("{} has the least {} in all {count} situations.", code(one), escaped(&sweep.by))
        }
        [(first, count), others @ ..] => {
            let others: Vec<String> =
                others.iter().map(|(strategy, count)| format!("{} in {count}", code(strategy))).collect();
            format!(
                "{} has the least {} in {count} of {} situations, {}.",
                code(first),
                escaped(&sweep.by),
                sweep.winners.len(),
                others.join(", ")
            )
        }
    }
}

fn labels(scenario: &Scenario) -> usize {
    scenario.cells.iter().map(|cell| cell.label.as_str()).collect::<std::collections::BTreeSet<_>>().len()
}

/// What is best, and the table of all cells.
pub(super) fn tables(document: &Document) -> String {
    sweeps(document).fold(String::new(), |mut told, (scenario, sweep)| {
        if !sweep.best.is_empty() {
            told.push_str("<h2>The best, estimated again on fresh seeds</h2>\n<ul>");
            for words in &sweep.best {
                let _ = writeln!(told, "<li>{}</li>", escaped(words));
            }
            told.push_str("</ul>\n");
        }
        told.push_str(&table(scenario, sweep));
        told
    })
}

fn table(scenario: &Scenario, sweep: &Sweep) -> String {
    let known = |(_, path, _): &&(&str, &str, f64)| {
        scenario.cells.iter().any(|cell| cell.figures.contains_key(*path))
    };
    let columns: Vec<_> = COLUMNS.iter().filter(known).collect();
    let mut table = "<div class=\"scroll\"><table class=\"points\">\n<thead><tr>".to_owned();
    for head in
        sweep.keys.iter().map(String::as_str).chain(["strategy"]).chain(columns.iter().map(|one| one.0))
    {
        let class = if head == "strategy" { " class=\"words\"" } else { "" };
        let _ = write!(table, "<th{class}>{}</th>", escaped(head));
    }
    table.push_str("</tr></thead>\n<tbody>\n");
    for cell in &scenario.cells {
        table.push_str("<tr>");
        for key in &sweep.keys {
            let _ = write!(table, "<td>{}</td>", escaped(&at(cell, key)));
        }
        let _ = write!(table, "<td class=\"words\"><code>{}</code></td>", escaped(&cell.label));
        for (_, path, times) in &columns {
            let _ = match cell.figures.get(*path) {
                Some(seeds) => {
                    let [mean, low, high] =
                        [seeds.mean, seeds.p5, seeds.p95].map(|value| number(value * times));
                    let ends =
                        if low == high { String::new() } else { format!("<small>{low}–{high}</small>") };
                    write!(table, "<td>{mean}{ends}</td>")
                }
                None => write!(table, "<td>–</td>"),
            };
        }
        table.push_str("</tr>\n");
    }
    table.push_str("</tbody></table></div>\n");
    let note = "<p class=\"note\">Means over seeds; below them, 5th to 95th percentile. Who left ops undone has no makespan.</p>\n";
    let lines = scenario.cells.len();
    if lines > MANY {
        return format!("<details><summary>all {lines} lines</summary>\n{table}{note}</details>\n");
    }
    format!("<h2>Every point</h2>\n{table}{note}")
}

fn at(cell: &Cell, key: &str) -> String {
    match cell.at.get(key) {
        Some(Setting::Number(value)) => number(*value),
        Some(Setting::Text(text)) => text.clone(),
        None => "–".to_owned(),
    }
}
