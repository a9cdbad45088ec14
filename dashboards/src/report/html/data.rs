//! Downloads of the report's data: a table with every figure of every run, and the drawn runs with their time series.

use std::io;

use maud::{Markup, PreEscaped, html};
use results::{Column, RunResult, Written, WrittenDocument};

use crate::report::Document;
use crate::report::escaping::data_link;
use crate::report::rows::Rows;

pub(super) fn data(document: &Document) -> Markup {
    let runs = document.strategies.iter().flat_map(|strategy| &strategy.runs);
    let runs: Vec<&RunResult> = runs.map(|run| &run.result).collect();
    let drawn = document.strategies.iter().map(|strategy| strategy.median().written.clone()).collect();
    let scenarios: Vec<Written> = document.reproduced().map(|scenario| scenario.written.clone()).collect();
    let none = WrittenDocument::default;
    html! {
        section {
            h2 { "Data" }
            ul {
                @if !runs.is_empty() {
                    li { (link("runs.csv", "text/csv", &table(&runs))) ": every figure of every run" }
                    li {
                        (json_link("drawn.json", &WrittenDocument { runs: drawn, ..none() }))
                        ": one run of each strategy (the one in the plots), with its time series; "
                        code { "loadgen report" } " accepts this file"
                    }
                }
                @for (scenario, _) in document.sweeps() {
                    li {
                        (json_link("sweep.json", &WrittenDocument { sweep: Some(scenario.written_sweep.clone()), ..none() }))
                        ": every cell of the sweep, with the plotted figures"
                    }
                }
                @if !scenarios.is_empty() {
                    li { (json_link("scenarios.json", &WrittenDocument { scenarios, ..none() })) ": every cell and every claim" }
                }
            }
        }
    }
}

fn json_link(name: &'static str, content: &WrittenDocument) -> Markup {
    link(name, "application/json", &content.to_json())
}

/// Returns a download link whose address contains the file itself. The address is quoted by apostrophes, which do not
/// occur in it, so it needs no escaping for HTML. Escaping would turn each of the many quotation marks in JSON into six
/// bytes.
fn link(name: &'static str, mime: &str, content: &str) -> Markup {
    PreEscaped(format!("<a download=\"{name}\" href='{}'>{name}</a>", data_link(mime, content)))
}

fn table(runs: &[&RunResult]) -> String {
    let written = || -> io::Result<Vec<u8>> {
        let mut rows = Rows::new(Vec::new(), &[], Column::from_runs(runs))?;
        for run in runs {
            rows.write(&[], run)?;
        }
        rows.finish()
    };
    String::from_utf8(written().expect("writing to memory cannot fail"))
        .expect("CSV columns and cells are UTF-8 text")
}
