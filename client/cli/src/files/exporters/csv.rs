//! `--csv FILE`: runs as rows, one column per figure of the result.

use dashboards::report::Rows;
use results::Column;

use crate::files::exporter::{ExportedRun, Exporter, Format, Layout, Results, Source};
use crate::files::output::Output;
use crate::files::streamed::Streamed;

pub(super) const FORMAT: Format = Format {
    flag: "--csv",
    help: |results| match results {
        Results::Run | Results::Comparison => {
            Some("Write every figure of every run to a CSV file, one row a run, or to stdout with `-`")
        }
        Results::Sweep => Some(
            "Write every figure of every run to a CSV file, one row a run, what was varied first, or to stdout with `-`",
        ),
        Results::Reproduction | Results::Parity | Results::Recordings => None,
    },
    from: Source::Runs,
    to_stdout: true,
    exporter: |output, layout| Box::new(Csv { output, layout: layout.clone(), rows: None }),
};

/// A CSV file that gets its name when all rows are written. Its columns are the same for every run: what a run does not
/// have stays empty.
struct Csv {
    output: Output,
    layout: Layout,
    rows: Option<Rows<Streamed>>,
}

impl Csv {
    fn open(&self) -> anyhow::Result<Rows<Streamed>> {
        let varied: Vec<&str> = self.layout.varied.iter().map(String::as_str).collect();
        let rows = Rows::new(Streamed::begin(&self.output)?, &varied, Column::all());
        rows.map_err(|error| self.output.refusal(error))
    }
}

impl Exporter for Csv {
    fn begin(&mut self) -> anyhow::Result<()> {
        if self.layout.streams {
            self.rows = Some(self.open()?);
        }
        Ok(())
    }

    fn on_run(&mut self, run: &ExportedRun<'_>) -> anyhow::Result<()> {
        let mut rows = self.rows.take().map_or_else(|| self.open(), Ok)?;
        rows.write(run.at, run.result).map_err(|error| self.output.refusal(error))?;
        self.rows = Some(rows);
        Ok(())
    }

    fn finish(mut self: Box<Self>, _document: &str) -> anyhow::Result<()> {
        let rows = self.rows.take().map_or_else(|| self.open(), Ok)?;
        Streamed::finish(rows.finish(), &self.output)
    }
}
