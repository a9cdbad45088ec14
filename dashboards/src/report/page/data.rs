//! The data as downloads: every figure of every run as a table, and the runs that are drawn with their series.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::report::document::Document;
use crate::report::html::data_link;
use crate::report::run::Run;

/// The section with the links.
pub(super) fn data(document: &Document) -> String {
    let mut section = "<section><h2>Data</h2>\n<ul>".to_owned();
    let mut link = |name: &str, mime: &str, content: &str, says: &str| {
        let _ = writeln!(
            section,
            "<li><a download=\"{name}\" href='{}'>{name}</a>: {says}</li>",
            data_link(mime, content)
        );
    };
    if !document.strategies.is_empty() {
        let runs: Vec<&Run> = document.strategies.iter().flat_map(|strategy| &strategy.runs).collect();
        link("runs.csv", "text/csv", &table(&runs), "every figure of every run");
        let drawn: Vec<&Value> = document.strategies.iter().map(|strategy| &strategy.median().raw).collect();
        let drawn = json!({ "runs": drawn }).to_string();
        link(
            "drawn.json",
            "application/json",
            &drawn,
            "the run of each strategy that is drawn, with its series; <code>loadgen report</code> reads it",
        );
    }
    if !document.scenarios.is_empty() {
        let scenarios: Vec<&Value> = document.scenarios.iter().map(|scenario| &scenario.raw).collect();
        let scenarios = json!({ "scenarios": scenarios }).to_string();
        link("scenarios.json", "application/json", &scenarios, "every cell and every claim");
    }
    section + "</ul></section>\n"
}

/// All numbers of the runs, one line a run.
fn table(runs: &[&Run]) -> String {
    let mut keys: Vec<String> = Vec::new();
    for run in runs {
        walk(&run.raw, "", &mut |path, _| {
            if !keys.iter().any(|key| key == path) {
                keys.push(path.to_owned());
            }
        });
    }
    let mut table = keys.iter().map(|key| field(key)).collect::<Vec<_>>().join(",") + "\r\n";
    for run in runs {
        let mut fields = vec![String::new(); keys.len()];
        walk(&run.raw, "", &mut |path, value| {
            if let Some(place) = keys.iter().position(|key| key == path) {
                fields[place] = field(&value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned));
            }
        });
        table.push_str(&fields.join(","));
        table.push_str("\r\n");
    }
    table
}

/// Every value that fits a cell, by its path. How runs were set up and what they were like in time does not.
fn walk(value: &Value, path: &str, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries.iter().filter(|(key, _)| *key != "config") {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(inner, &path, see);
            }
        }
        Value::Null | Value::Array(_) => {}
        plain => see(path, plain),
    }
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
