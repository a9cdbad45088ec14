//! `--csv FILE`: runs as rows, one column per figure of the result.

use std::path::Path;

use dashboards::report::Rows;
use loadgen_core::RunResult;
use serde_json::Value;

use crate::output::Output;
use crate::record::ConfigRecord;
use crate::schema::scalar_paths;
use crate::streamed::Streamed;

/// A CSV file that gets its name when all rows are written. Its columns are the same for every run: what a run does not
/// have stays empty.
pub(crate) struct CsvFile {
    output: Output,
}

/// Rows on their way to a file.
pub(crate) struct OpenCsv<'a> {
    output: &'a Output,
    rows: Rows<Streamed>,
}

impl CsvFile {
    /// Makes sure that the file can be written, before anything runs.
    pub(crate) fn prepare(path: &Path) -> anyhow::Result<Self> {
        Ok(Self { output: Output::prepare(path, "--csv")? })
    }

    /// Whether stdout is taken by it.
    pub(crate) fn is_stdout(&self) -> bool {
        self.output.is_stdout()
    }

    /// Writes runs without leading columns.
    pub(crate) fn write<'a>(
        &self,
        runs: impl IntoIterator<Item = &'a RunResult<ConfigRecord>>,
    ) -> anyhow::Result<()> {
        let mut open = self.open(&[])?;
        for run in runs {
            open.write(&[], &serde_json::to_value(run)?)?;
        }
        open.finish()
    }

    /// Begins to write rows; the leading columns say what a run's own figures do not, such as what was varied.
    pub(crate) fn open(&self, leading: &[&str]) -> anyhow::Result<OpenCsv<'_>> {
        let rows = Rows::new(Streamed::begin(&self.output)?, leading, scalar_paths());
        Ok(OpenCsv { output: &self.output, rows: rows.map_err(|error| self.output.refusal(error))? })
    }
}

impl OpenCsv<'_> {
    /// Writes one run's result, after as many values as there are leading columns.
    pub(crate) fn write(&mut self, leading: &[String], run: &Value) -> anyhow::Result<()> {
        self.rows.write(leading, run).map_err(|error| self.output.refusal(error))
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        Streamed::finish(self.rows.finish(), self.output)
    }
}
