//! `--json FILE`: the document as it is, in one line.

use std::io::{self, Write as _};

use anyhow::Context as _;
use results::RunResult;

use crate::files::exporter::{ExportedRun, Exporter, Format, Layout, Results, Source};
use crate::files::output::Output;
use crate::files::streamed::Streamed;

pub(super) const FORMAT: Format = Format {
    flag: "--json",
    help: |results| {
        Some(match results {
            Results::Run => {
                "Write the result as JSON to a file, or to stdout with `-` (the summary then goes to stderr)"
            }
            Results::Recordings => "Write all verdicts as JSON to a file, or to stdout with `-`",
            _ => "Write all figures and verdicts as JSON to a file, or to stdout with `-`",
        })
    },
    from: Source::Document,
    to_stdout: true,
    exporter: |output, layout| Box::new(Json { output, layout: layout.clone(), runs: None }),
};

/// How a document begins whose runs are written before the rest of it is known.
const RUNS: &str = "{\"runs\":[";

struct Json {
    output: Output,
    layout: Layout,
    /// The file that runs are streamed to, and whether one was.
    runs: Option<(Streamed, bool)>,
}

impl Json {
    fn stream(&mut self, run: &ExportedRun<'_>) -> anyhow::Result<()> {
        let Some((file, any)) = &mut self.runs else { return Ok(()) };
        let refusal = |error: io::Error| self.output.refusal(error);
        // Courses and curves say little among thousands of runs.
        let (series, op_latency_curve) = (Vec::new(), Vec::new());
        let at = Some(self.layout.at(run.at));
        let lean = RunResult { series, op_latency_curve, at, ..run.result.clone() };
        if std::mem::replace(any, true) {
            file.write_all(b",").map_err(refusal)?;
        }
        serde_json::to_writer(file, &results::sorted(&lean)?).map_err(|error| refusal(error.into()))
    }
}

impl Exporter for Json {
    fn begin(&mut self) -> anyhow::Result<()> {
        if self.layout.streams {
            let mut file = Streamed::begin(&self.output)?;
            file.write_all(RUNS.as_bytes()).map_err(|error| self.output.refusal(error))?;
            self.runs = Some((file, false));
        }
        Ok(())
    }

    fn on_run(&mut self, run: &ExportedRun<'_>) -> anyhow::Result<()> {
        self.stream(run)
    }

    fn finish(mut self: Box<Self>, document: &str) -> anyhow::Result<()> {
        let Some((mut file, _)) = self.runs.take() else { return self.output.write(document.as_bytes()) };
        let rest = after_runs(document)?;
        Streamed::finish(file.write_all(rest.as_bytes()).map(|()| file), &self.output)
    }
}

/// What follows the runs in a document that leaves room for them: they stand first, since its keys are sorted.
fn after_runs(document: &str) -> anyhow::Result<&str> {
    document
        .strip_prefix(RUNS)
        .context("the document has a key before `runs`, which are written already; this is a bug")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_only_streamed_into_a_document_that_begins_with_them() {
        assert_eq!(after_runs(r#"{"runs":[],"schema":1}"#).unwrap(), r#"],"schema":1}"#);
        let error = after_runs(r#"{"at":1,"runs":[]}"#).unwrap_err();
        assert!(error.to_string().contains("a key before `runs`"), "{error}");
    }
}
