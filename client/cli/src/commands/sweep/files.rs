//! Where a sweep goes: runs as rows and as JSON while it goes on, what follows from them at the end.

use std::io::{self, Write};

use dashboards::report::{Document, Rows, page};
use loadgen_core::RunResult;
use serde_json::{Value, json};

use super::args::SweepArgs;
use crate::commands::compare::Measured;
use crate::exit::{Exit, Fatal};
use crate::files::output::Output;
use crate::files::results::distinct;
use crate::files::streamed::Streamed;
use crate::schema::scalar_paths;

/// The files of a sweep. Runs are written point by point, so that no more than one point's are in memory.
pub(super) struct Files {
    json: Option<(Output, Streamed)>,
    csv: Option<(Output, Rows<Streamed>)>,
    html: Option<Output>,
    /// Whether a run was written before.
    any: bool,
    /// Why the first file that failed did: it costs neither the others nor what was measured.
    failed: Option<anyhow::Error>,
}

impl Files {
    /// Makes sure that everything can be written, before anything runs.
    pub(super) fn open(args: &SweepArgs) -> anyhow::Result<Self> {
        let (json, html) = (args.several.output.json.as_deref(), args.several.html.as_deref());
        distinct([json, html, args.csv.as_deref()])?;
        let json = json.map(|path| Output::prepare(path, "--json")).transpose()?;
        let html = html.map(|path| Output::prepare(path, "--html")).transpose()?;
        let csv = args.csv.as_deref().map(|path| Output::prepare(path, "--csv")).transpose()?;
        let json = json.map(begin_json).transpose()?;
        let keys: Vec<String> = args.vary.iter().map(|axis| axis.key.to_string()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let csv = csv
            .map(|output| {
                let rows = Rows::new(Streamed::begin(&output)?, &keys, scalar_paths());
                let rows = rows.map_err(|error| output.refusal(error))?;
                anyhow::Ok((output, rows))
            })
            .transpose()?;
        Ok(Self { json, csv, html, any: false, failed: None })
    }

    /// Whether stdout is taken, so that what people read goes to stderr.
    pub(super) fn take_stdout(&self) -> bool {
        let outputs =
            [self.json.as_ref().map(|(output, _)| output), self.csv.as_ref().map(|(output, _)| output)];
        outputs.into_iter().chain([self.html.as_ref()]).flatten().any(Output::is_stdout)
    }

    /// Writes the runs of a point, by seed and in the order of strategies.
    pub(super) fn write_runs(
        &mut self,
        at: &Value,
        values: &[String],
        measured: &Measured,
    ) -> anyhow::Result<()> {
        if self.json.is_none() && self.csv.is_none() {
            return Ok(());
        }
        for block in 0..measured.blocks() {
            for runs in &measured.runs {
                // Courses and curves say little among thousands of runs.
                let (series, op_latency_curve) = (Vec::new(), Vec::new());
                let lean = RunResult { series, op_latency_curve, ..runs[block].result.clone() };
                let mut run = serde_json::to_value(lean)?;
                if let Some((output, rows)) = &mut self.csv
                    && let Err(error) = rows.write(values, &run)
                {
                    self.failed.get_or_insert(output.refusal(error));
                    self.csv = None;
                }
                run["at"] = at.clone();
                if let Some((output, file)) = &mut self.json {
                    let comma = if self.any { "," } else { "" };
                    let written = file
                        .write_all(comma.as_bytes())
                        .and_then(|()| serde_json::to_writer(&mut *file, &run).map_err(io::Error::from));
                    if let Err(error) = written {
                        self.failed.get_or_insert(output.refusal(error));
                        self.json = None;
                    }
                }
                self.any = true;
            }
        }
        Ok(())
    }

    /// Writes the rest, and gives the files their names.
    pub(super) fn finish(self, sweep: &Value) -> anyhow::Result<()> {
        let csv = self.csv.map_or(Ok(()), |(output, rows)| Streamed::finish(rows.finish(), &output));
        let json = self.json.map_or(Ok(()), |(output, mut file)| {
            let ended = write!(file, "],\"sweep\":{sweep}}}").and_then(|()| file.write_all(b"\n"));
            Streamed::finish(ended.map(|()| file), &output)
        });
        let html = self.html.map_or(Ok(()), |html| {
            let text = json!({ "runs": [], "sweep": sweep }).to_string();
            let read = Document::read(&[("this sweep".to_owned(), text)]);
            let read = read.map_err(|error| Fatal::error(Exit::Output, error.to_string()))?;
            html.write(page(&read).as_bytes())
        });
        self.failed.map_or(Ok(()), Err).and(csv).and(json).and(html)
    }
}

fn begin_json(output: Output) -> anyhow::Result<(Output, Streamed)> {
    let mut file = Streamed::begin(&output)?;
    file.write_all(b"{\"runs\":[").map_err(|error| output.refusal(error))?;
    Ok((output, file))
}
