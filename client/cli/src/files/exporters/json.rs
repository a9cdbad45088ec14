//! `--json FILE`: the document as it is, in one line.

use std::io::{self, Write as _};

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
            _ => "Write all figures and verdicts as JSON to a file, or to stdout with `-`",
        })
    },
    from: Source::Document,
    to_stdout: true,
    begin: |output, layout| Box::new(Json { output, layout: layout.clone(), runs: None }),
};

/// How a document begins whose runs are written before the rest of it is known.
const RUNS: &str = "{\"runs\":[";

struct Json {
    output: Output,
    layout: Layout,
    /// The file, once a run was written.
    runs: Option<Streamed>,
}

impl Json {
    fn stream(&mut self, run: &ExportedRun<'_>) -> anyhow::Result<()> {
        let refusal = |error: io::Error| self.output.refusal(error);
        let (mut file, before) = match self.runs.take() {
            Some(file) => (file, ","),
            None => (Streamed::begin(&self.output)?, RUNS),
        };
        // Courses and curves say little among thousands of runs.
        let (series, op_latency_curve) = (Vec::new(), Vec::new());
        let lean = RunResult { series, op_latency_curve, ..run.result.clone() };
        let mut run_and_place = serde_json::to_value(lean)?;
        run_and_place["at"] = self.layout.at(run.at);
        file.write_all(before.as_bytes()).map_err(refusal)?;
        serde_json::to_writer(&mut file, &run_and_place).map_err(|error| refusal(error.into()))?;
        self.runs = Some(file);
        Ok(())
    }
}

impl Exporter for Json {
    fn on_run(&mut self, run: &ExportedRun<'_>) -> anyhow::Result<()> {
        if self.layout.streams { self.stream(run) } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>, document: &str) -> anyhow::Result<()> {
        let Some(mut file) = self.runs.take() else { return self.output.write(document.as_bytes()) };
        // The runs stand where the document leaves room for them.
        let rest = document.strip_prefix(RUNS).unwrap_or(document);
        Streamed::finish(file.write_all(rest.as_bytes()).map(|()| file), &self.output)
    }
}
