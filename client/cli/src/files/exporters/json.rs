//! `--json FILE`: writes the result document as JSON in one line.

use std::io::{BufWriter, Write as _};

use results::RunResult;

use crate::files::exporter::{ExportedRun, Exporter, Format, Layout, Results, RunsStand, Source, TakenRun};
use crate::files::grouped_runs::{GroupedRuns, RUNS, around};
use crate::files::output::Output;
use crate::files::streamed::Streamed;

pub(super) const FORMAT: Format = Format {
    flag: "--json",
    help: |results| {
        Some(match results {
            Results::Merged => return None,
            Results::Run => "Write the result as JSON to a file, or to stdout (`-`)",
            Results::Recordings => "Write all verdicts as JSON to a file, or to stdout (`-`)",
            _ => "Write all figures as JSON to a file, or to stdout (`-`)",
        })
    },
    from: Source::Document,
    to_stdout: true,
    text: Some(text),
    exporter: |output, layout| {
        let runs = layout.runs;
        Box::new(Json { output, runs, file: None, any: false, gathered: GroupedRuns::new(b",") })
    },
};

/// Serialises a run as JSON, in the form that the result document uses. Returns an empty text if the document value itself contains the
/// runs.
pub(super) fn text(run: &ExportedRun<'_>, layout: &Layout) -> anyhow::Result<Vec<u8>> {
    Ok(match layout.runs {
        RunsStand::InDocument => Vec::new(),
        RunsStand::First if layout.varied.is_empty() => serde_json::to_vec(run.result)?,
        RunsStand::First => {
            // Time series and latency curves are left out, because they are of little use among thousands of runs.
            let (series, op_latency_curve) = (Vec::new(), Vec::new());
            let at = Some(layout.at(run.at));
            serde_json::to_vec(&results::sorted(&RunResult {
                series,
                op_latency_curve,
                at,
                ..run.result.clone()
            })?)?
        }
        RunsStand::Last => serde_json::to_vec(&results::sorted(run.result)?)?,
    })
}

struct Json {
    output: Output,
    runs: RunsStand,
    file: Option<Streamed>,
    any: bool,
    gathered: GroupedRuns,
}

impl Exporter for Json {
    fn begin(&mut self) -> anyhow::Result<()> {
        if self.runs == RunsStand::First {
            let mut file = Streamed::begin(&self.output)?;
            file.write_all(RUNS.as_bytes()).map_err(|error| self.output.refusal(error))?;
            self.file = Some(file);
        }
        Ok(())
    }

    fn on_run(&mut self, run: &TakenRun<'_>) -> anyhow::Result<()> {
        let written = match &mut self.file {
            Some(file) => {
                let between: &[u8] = if std::mem::replace(&mut self.any, true) { b"," } else { b"" };
                file.write_all(between).and_then(|()| file.write_all(run.text))
            }
            None if self.runs == RunsStand::Last => self.gathered.push(run.strategy, run.text),
            None => Ok(()),
        };
        written.map_err(|error| self.output.refusal(error))
    }

    fn finish(mut self: Box<Self>, document: &str) -> anyhow::Result<()> {
        let (before, after) = around(document, self.runs)?;
        if let Some(mut file) = self.file.take() {
            return Streamed::finish(file.write_all(after.as_bytes()).map(|()| file), &self.output);
        }
        self.output.write_all_of(&mut |to| {
            let mut to = BufWriter::new(to);
            to.write_all(before.as_bytes())?;
            self.gathered.copy_to(&mut to)?;
            to.write_all(after.as_bytes())?;
            to.flush()
        })
    }
}
