//! The tables of the first screen: strategies, warnings, what a comparison found, claims.

use std::fmt::Write as _;

use super::answer::{mean, ranked};
use crate::report::document::Document;
use crate::report::escaping::escaped;
use crate::report::number::{number, percent};
use crate::report::reading::look;
use crate::report::run::Run;
use crate::report::strategy::Strategy;
use statistics::percentile;

/// A column: its head, and a run's figure with its text.
type Column = (&'static str, fn(&Run) -> Option<f64>, fn(f64) -> String);

/// The most important first: on a phone no others can be seen without scrolling.
const COLUMNS: &[Column] = &[
    ("makespan s", |run| run.makespan_s.filter(|_| run.complete), number),
    ("over the lower bound", Run::over_bound, percent),
    ("attempts", |run| Some(run.attempts), number),
    ("attempts per op", |run| run.amplification, number),
    ("efficiency", |run| run.efficiency, percent),
    ("op latency p50 s", |run| run.latency_ms(0.5).map(|ms| ms / 1e3), number),
    ("p99 s", |run| run.latency_ms(0.99).map(|ms| ms / 1e3), number),
];

/// What strategies do to the server, to themselves and to one another; each is shown where some run has it.
const SIDE_EFFECTS: &[Column] = &[
    ("wasted server s", |run| figure(run, "wasted_server_s"), number),
    ("window fits after s", |run| figure(run, "window.convergence_s"), number),
    ("window spread", |run| figure(run, "window.variation"), percent),
    ("ops late", |run| figure(run, "late_share"), percent),
    ("jain", |run| figure(run, "fairness.jain"), number),
];

/// A figure by its place in the result.
fn figure(run: &Run, path: &str) -> Option<f64> {
    look(&run.raw, path).and_then(serde_json::Value::as_f64).filter(|value| value.is_finite())
}

/// All tables that have something to say.
pub(super) fn tables(document: &Document) -> String {
    let mut tables = String::new();
    if !document.strategies.is_empty() {
        tables.push_str(&strategies(document));
    }
    tables.push_str(&warnings(document));
    if !document.comparison.is_empty() {
        tables.push_str("<h2>Comparison</h2>\n<ul>");
        for words in &document.comparison {
            let _ = writeln!(tables, "<li>{}</li>", escaped(words));
        }
        tables.push_str("</ul>\n");
    }
    tables.push_str(&super::swept::tables(document));
    tables.push_str(&claims(document));
    tables
}

fn strategies(document: &Document) -> String {
    let repeated = document.strategies.iter().any(|strategy| strategy.runs.len() > 1);
    let mut table = "<div class=\"scroll\"><table>\n<thead><tr><th>strategy</th>".to_owned();
    for (head, ..) in COLUMNS {
        let _ = write!(table, "<th>{head}</th>");
    }
    table.push_str("<th>ops done</th>");
    if repeated {
        table.push_str("<th>runs</th>");
    }
    table.push_str("</tr></thead>\n<tbody>\n");
    let ranked =
        ranked(&document.strategies, document.by).unwrap_or_else(|| document.strategies.iter().collect());
    for strategy in ranked {
        let _ = write!(table, "<tr><td><code>{}</code></td>", escaped(&strategy.label));
        for (_, figure, text) in COLUMNS {
            let _ = write!(table, "<td>{}</td>", over_runs(&strategy.values(figure), *text));
        }
        let _ = write!(table, "<td>{}</td>", done(strategy));
        if repeated {
            let _ = write!(table, "<td>{}</td>", strategy.runs.len());
        }
        table.push_str("</tr>\n");
    }
    table.push_str("</tbody></table></div>\n");
    if repeated {
        let by = document.by.name();
        let _ = writeln!(
            table,
            "<p class=\"note\">Means over runs; below them, 5th to 95th percentile. Ranked by the geometric mean of the {by}.</p>"
        );
    }
    if document.strategies.iter().any(|strategy| !strategy.complete()) {
        table.push_str("<p class=\"note\">Latencies are of ops that succeeded. A strategy that did not do every op has no makespan.</p>\n");
    }
    table + &super::failures::table(document) + &side_effects(document)
}

fn side_effects(document: &Document) -> String {
    let runs = || document.strategies.iter().flat_map(|strategy| &strategy.runs);
    let known = |(_, figure, _): &&Column| runs().any(|run| figure(run).is_some());
    let columns: Vec<&Column> = SIDE_EFFECTS.iter().filter(known).collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut table =
        "<h2>Side effects</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>strategy</th>".to_owned();
    for (head, ..) in &columns {
        let _ = write!(table, "<th>{head}</th>");
    }
    table.push_str("</tr></thead>\n<tbody>\n");
    for strategy in
        ranked(&document.strategies, document.by).unwrap_or_else(|| document.strategies.iter().collect())
    {
        let _ = write!(table, "<tr><td><code>{}</code></td>", escaped(&strategy.label));
        for (_, figure, text) in &columns {
            let _ = write!(table, "<td>{}</td>", over_runs(&strategy.values(figure), *text));
        }
        table.push_str("</tr>\n");
    }
    table.push_str("</tbody></table></div>\n");
    let notes = columns.iter().map(|(head, ..)| match *head {
        "wasted server s" => {
            "Wasted: time of the server's slots spent on rejections and abandoned attempts. "
        }
        "window fits after s" => {
            "Fits: when the window had come within 10 % of the server's cap and stayed there. "
        }
        "window spread" => "Spread: standard deviation over mean. ",
        "jain" => "Jain's index: 1 when all clients got the same. ",
        _ => "",
    });
    table + "<p class=\"note\">" + notes.collect::<String>().trim_end() + "</p>\n"
}

fn done(strategy: &Strategy) -> String {
    let run = strategy.runs.iter().min_by_key(|run| run.succeeded).unwrap_or(strategy.median());
    if strategy.complete() {
        return number(run.ops as f64);
    }
    format!("<strong>{}</strong> of {}", number(run.succeeded as f64), number(run.ops as f64))
}

fn over_runs(sorted: &[f64], text: fn(f64) -> String) -> String {
    let Some(mean) = mean(sorted) else { return "–".to_owned() };
    let ends = [0.05, 0.95].map(|share| text(percentile(sorted, share).unwrap_or(mean)));
    match sorted {
        [_] => text(mean),
        _ if ends[0] == ends[1] => text(mean),
        _ => format!("{}<small>{}–{}</small>", text(mean), ends[0].trim_end_matches(" %"), ends[1]),
    }
}

/// Every warning once, with the strategies that it is about.
fn warnings(document: &Document) -> String {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for strategy in &document.strategies {
        for warning in strategy.runs.iter().flat_map(|run| &run.warnings) {
            match told.iter_mut().find(|(there, _)| there == warning) {
                Some((_, labels)) if labels.contains(&strategy.label.as_str()) => {}
                Some((_, labels)) => labels.push(&strategy.label),
                None => told.push((warning, vec![&strategy.label])),
            }
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let mut list = "<ul class=\"warnings\">\n".to_owned();
    for (warning, labels) in told {
        let _ = writeln!(
            list,
            "<li>{} <span class=\"note\">({})</span></li>",
            escaped(warning),
            escaped(&labels.join(", "))
        );
    }
    list + "</ul>\n"
}

fn claims(document: &Document) -> String {
    let mut tables = String::new();
    for scenario in document.unplotted().filter(|scenario| !scenario.claims.is_empty()) {
        let _ = write!(
            tables,
            "<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>claim</th><th>published</th><th>tested</th><th>ours</th>\
             <th>verdict</th></tr></thead>\n<tbody>\n",
            escaped(&scenario.name)
        );
        for claim in &scenario.claims {
            let verdict = escaped(&claim.verdict);
            let verdict = if claim.as_expected {
                verdict
            } else {
                format!("<strong>{verdict} (not as expected)</strong>")
            };
            let _ = writeln!(
                tables,
                "<tr><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{verdict}</td></tr>",
                escaped(&claim.says),
                if claim.ours_alone { " <em>(ours, not the source’s)</em>" } else { "" },
                escaped(&claim.published),
                escaped(&claim.condition),
                escaped(&claim.ours)
            );
        }
        tables.push_str("</tbody></table></div>\n");
    }
    tables
}
