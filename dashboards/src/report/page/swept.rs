//! A sweep on the page: the answer, a line per strategy and point, and what is best.

use std::fmt::Write as _;

use crate::report::document::Document;
use crate::report::experiment::{Cell, Scenario, Setting};
use crate::report::html::escaped;
use crate::report::number::number;
use crate::report::sweep::Sweep;

/// More lines than one wants to scroll past.
const MANY: usize = 60;

/// Columns: head, path, and what a unit of the figure is in the unit of the column.
const COLUMNS: [(&str, &str, f64); 8] = [
    ("attempts", "attempts.total", 1.0),
    ("attempts per op", "amplification", 1.0),
    ("makespan s", "makespan_s", 1.0),
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
