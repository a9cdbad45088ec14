//! Downloads of the report's data: a table with every figure of every run, and the drawn runs with their time series.

use std::io;

use maud::{Markup, PreEscaped, html};
use results::{Column, RunResult, Written, WrittenDocument, WrittenSweep};

use crate::report::document::Document;
use crate::report::escaping::data_link;
use crate::report::rows::Rows;
use crate::report::run::Run;

pub(super) fn data(document: &Document) -> Markup {
    let runs: Vec<&Run> = document.strategies.iter().flat_map(|strategy| &strategy.runs).collect();
    let sweeps = document.scenarios.iter().filter_map(|scenario| scenario.sweep.as_ref());
    let others = document.scenarios.iter().filter(|scenario| scenario.sweep.is_none());
    let others: Vec<Written> = others.map(|scenario| scenario.written.clone()).collect();
    html! {
        section {
            h2 { "Data" }
            ul {
                @if !runs.is_empty() {
                    li { (link("runs.csv", "text/csv", &table(&runs))) ": every figure of every run" }
                    li {
                        (json_link("drawn.json", &drawn(document)))
                        ": one run of each strategy (the one in the plots), with its time series; "
                        code { "loadgen report" } " accepts this file"
                    }
                }
                @for sweep in sweeps {
                    li {
                        (json_link("sweep.json", &swept(&sweep.written)))
                        ": every cell of the sweep, with the plotted figures"
                    }
                }
                @if !others.is_empty() {
                    li { (json_link("scenarios.json", &reproduced(others))) ": every cell and every claim" }
                }
            }
        }
    }
}

fn drawn(document: &Document) -> WrittenDocument {
    let runs = document.strategies.iter().map(|strategy| strategy.median().written.clone());
    WrittenDocument { runs: runs.collect(), ..WrittenDocument::default() }
}

fn swept(sweep: &WrittenSweep) -> WrittenDocument {
    WrittenDocument { sweep: Some(sweep.clone()), ..WrittenDocument::default() }
}

fn reproduced(scenarios: Vec<Written>) -> WrittenDocument {
    WrittenDocument { scenarios, ..WrittenDocument::default() }
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

fn table(runs: &[&Run]) -> String {
    let written = || -> io::Result<Vec<u8>> {
        let runs: Vec<&RunResult> = runs.iter().filter_map(|run| run.result.as_deref()).collect();
        let mut rows = Rows::new(Vec::new(), &[], Column::from_runs(&runs))?;
        for run in runs {
            rows.write(&[], run)?;
        }
        rows.finish()
    };
    String::from_utf8(written().expect("writing to memory cannot fail"))
        .expect("CSV columns and cells are UTF-8 text")
}
