//! `--html FILE`: writes the result document as an HTML report.

use dashboards::report::{self, Document};

use super::json;
use crate::exit::{Exit, Fatal};
use crate::files::exporter::{Exporter, Format, Layout, Results, RunsStand, Source, TakenRun};
use crate::files::grouped_runs::{GroupedRuns, around};
use crate::files::output::Output;

pub(super) const FORMAT: Format = Format {
    flag: "--html",
    help: |results| match results {
        Results::Recordings => None,
        _ => Some("Write an HTML report; it needs no network"),
    },
    from: Source::Document,
    to_stdout: true,
    text: Some(|run, layout| if layout.varied.is_empty() { json::text(run, layout) } else { Ok(Vec::new()) }),
    exporter: |output, layout| {
        Box::new(Html { output, layout: layout.clone(), gathered: GroupedRuns::new(b",") })
    },
};

/// Writer of an HTML report. The report shows the whole document, so all runs are in memory. Runs of a sweep are not kept, because the
/// sweep's cells summarise them.
struct Html {
    output: Output,
    layout: Layout,
    gathered: GroupedRuns,
}

impl Exporter for Html {
    fn on_run(&mut self, run: &TakenRun<'_>) -> anyhow::Result<()> {
        if self.layout.runs == RunsStand::InDocument || !self.layout.varied.is_empty() {
            return Ok(());
        }
        self.gathered.push(run.strategy, run.text).map_err(|error| self.output.refusal(error))
    }

    fn finish(mut self: Box<Self>, document: &str) -> anyhow::Result<()> {
        let (before, after) = around(document, self.layout.runs)?;
        let mut whole = before.as_bytes().to_vec();
        self.gathered.copy_to(&mut whole).map_err(|error| self.output.refusal(error))?;
        whole.extend_from_slice(after.as_bytes());
        let whole = String::from_utf8(whole)?;
        let read = Document::read(&[("this result".to_owned(), whole)]);
        let read = read.map_err(|error| Fatal::error(Exit::Output, error.to_string()))?;
        self.output.write(report::html(&read).as_bytes())
    }
}
