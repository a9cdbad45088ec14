//! `--csv FILE`: runs as rows, one column per figure of the result.

use std::path::Path;

use dashboards::report::Rows;
use loadgen_core::RunResult;

use crate::files::output::Output;
use crate::files::streamed::Streamed;
use crate::record::ConfigRecord;
use crate::schema::scalar_paths;

/// A CSV file that gets its name when all rows are written. Its columns are the same for every run: what a run does not
/// have stays empty.
pub(crate) struct CsvFile {
    output: Output,
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

    /// Writes a row for each run.
    pub(crate) fn write<'a>(
        &self,
        runs: impl IntoIterator<Item = &'a RunResult<ConfigRecord>>,
    ) -> anyhow::Result<()> {
        let refusal = |error| self.output.refusal(error);
        let mut rows = Rows::new(Streamed::begin(&self.output)?, &[], scalar_paths()).map_err(refusal)?;
        for run in runs {
            rows.write(&[], &serde_json::to_value(run)?).map_err(refusal)?;
        }
        Streamed::finish(rows.finish(), &self.output)
    }
}
