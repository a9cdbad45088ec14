//! `--csv FILE`: writes runs as rows of a CSV file, with one column per figure of the result.

use std::io::Write as _;

use dashboards::report::{Rows, row};
use results::Column;

use crate::files::exporter::{Exporter, Format, Layout, Results, RunsStand, Source, TakenRun};
use crate::files::grouped_runs::GroupedRuns;
use crate::files::output::Output;
use crate::files::streamed::Streamed;

pub(super) const FORMAT: Format = Format {
    flag: "--csv",
    help: |results| match results {
        Results::Run | Results::Comparison | Results::Merged => {
            Some("Write every figure of every run as CSV, one row a run, to a file or to stdout (`-`)")
        }
        Results::Sweep => Some(
            "Write every figure of every run as CSV, one row a run, varied keys first, to a file or to stdout (`-`)",
        ),
        Results::Reproduction | Results::Recordings => None,
    },
    from: Source::Runs,
    to_stdout: true,
    text: Some(|run, _| Ok(row(run.at, run.result, &Column::all())?)),
    exporter: |output, layout| {
        Box::new(Csv { output, layout: layout.clone(), file: None, gathered: GroupedRuns::new(b"") })
    },
};

/// CSV file in which all runs have the same columns. If a run lacks a figure, the cell of this figure is empty.
struct Csv {
    output: Output,
    layout: Layout,
    file: Option<Streamed>,
    gathered: GroupedRuns,
}

impl Csv {
    fn open(&self) -> anyhow::Result<Streamed> {
        let varied: Vec<&str> = self.layout.varied.iter().map(String::as_str).collect();
        let mut file = Streamed::begin(&self.output)?;
        let head = Rows::new(Vec::new(), &varied, Column::all()).and_then(Rows::finish);
        head.and_then(|head| file.write_all(&head)).map_err(|error| self.output.refusal(error))?;
        Ok(file)
    }
}

impl Exporter for Csv {
    fn begin(&mut self) -> anyhow::Result<()> {
        if self.layout.runs == RunsStand::First {
            self.file = Some(self.open()?);
        }
        Ok(())
    }

    fn on_run(&mut self, run: &TakenRun<'_>) -> anyhow::Result<()> {
        let written = match &mut self.file {
            Some(file) => file.write_all(run.text),
            None => self.gathered.push(run.strategy, run.text),
        };
        written.map_err(|error| self.output.refusal(error))
    }

    fn finish(mut self: Box<Self>, _document: &str) -> anyhow::Result<()> {
        let mut file = self.file.take().map_or_else(|| self.open(), Ok)?;
        Streamed::finish(self.gathered.copy_to(&mut file).map(|()| file), &self.output)
    }
}
