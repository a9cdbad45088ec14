//! The data as downloads: every figure of every run as a table, and the runs that are drawn with their series.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value, json};

use crate::report::document::Document;
use crate::report::escaping::data_link;
use crate::report::experiment::Scenario;
use crate::report::rows::{Rows, columns};
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
    let (sweeps, others): (Vec<&Scenario>, Vec<&Scenario>) =
        document.scenarios.iter().partition(|scenario| scenario.sweep.is_some());
    for swept in sweeps {
        let swept = json!({ "sweep": swept.raw }).to_string();
        link("sweep.json", "application/json", &swept, "every cell with the figures that are drawn");
    }
    if !others.is_empty() {
        let scenarios: Vec<&Value> = others.iter().map(|scenario| &scenario.raw).collect();
        let scenarios = json!({ "scenarios": scenarios }).to_string();
        link("scenarios.json", "application/json", &scenarios, "every cell and every claim");
    }
    section + "</ul></section>\n"
}

/// Every figure of the runs, a row each.
fn table(runs: &[&Run]) -> String {
    let written = || -> io::Result<Vec<u8>> {
        let mut rows = Rows::new(Vec::new(), &[], columns(runs.iter().map(|run| &run.raw)))?;
        for run in runs {
            rows.write(&[], &run.raw)?;
        }
        rows.finish()
    };
    String::from_utf8(written().expect("memory takes whatever is written"))
        .expect("columns and cells are text")
}
