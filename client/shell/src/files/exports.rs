//! Output files of a command. All files are checked before the first run. Attempts are written during the runs, and all else after them.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use experiments::runs::one_run::{Finished, KeptLatencies};
use results::{Document, RunResult};

use crate::files::exporter::{Exported, Format, WriteFile};
use crate::files::exporters::{HDR, Samples, SamplesFile};
use crate::files::output::resolved;
use crate::{Output, usage};

pub type RequestedExport = (&'static Format, PathBuf);

pub struct Exports {
    files: Vec<(WriteFile, Output)>,
    samples: Option<SamplesFile>,
    pub has_latencies: bool,
    stdout_is_claimed: bool,
    /// Runs of the document by the index of their strategy, in the order in which they ended.
    runs: Vec<Vec<RunResult>>,
    latencies: Vec<Vec<Arc<KeptLatencies>>>,
}

impl Exports {
    /// Checks that all outputs can be written and that their paths differ. `others` are paths of outputs that other code writes.
    pub fn prepare(asked: &[RequestedExport], others: &[&Path]) -> anyhow::Result<Self> {
        distinct(asked.iter().map(|(_, path)| path.as_path()).chain(others.iter().copied()))?;
        let mut exports = Self {
            files: Vec::new(),
            samples: None,
            has_latencies: asked.iter().any(|(format, _)| format.flag == HDR),
            stdout_is_claimed: others.contains(&Path::new("-")),
            runs: Vec::new(),
            latencies: Vec::new(),
        };
        for (format, path) in asked {
            if format.write.is_none() && path == Path::new("-") {
                return Err(usage(format!(
                    "`{}` needs a file; stdout is for the summary or `--json -`",
                    format.flag
                )));
            }
            let output = Output::prepare(path, format.flag)?;
            exports.stdout_is_claimed |= output.is_stdout();
            match format.write {
                Some(write) => exports.files.push((write, output)),
                None => exports.samples = Some(SamplesFile::new(output)),
            }
        }
        Ok(exports)
    }

    /// Opens the file that is written during the runs. Called just before the first run begins, after all checks passed.
    pub fn begin(&mut self) -> anyhow::Result<()> {
        self.samples.as_ref().map_or(Ok(()), SamplesFile::begin)
    }

    /// True if an output goes to stdout. Texts for people must then go to stderr.
    pub fn claim_stdout(&self) -> bool {
        self.stdout_is_claimed
    }

    pub fn have_document(&self) -> bool {
        !self.files.is_empty()
    }

    pub fn samples(&self) -> Option<Samples> {
        self.samples.as_ref().map(SamplesFile::samples)
    }

    /// Reserves memory for the runs of one strategy, which would otherwise be copied as they become more.
    pub fn reserve(&mut self, runs: usize) {
        if self.have_document() {
            self.runs.push(Vec::with_capacity(runs));
            self.latencies.push(Vec::new());
        }
    }

    /// Keeps a run for the document. `strategy` is its index; the document lists the runs of one strategy after those of another.
    pub fn on_run(&mut self, strategy: usize, finished: &Finished) {
        if !self.have_document() {
            return;
        }
        if self.runs.len() <= strategy {
            self.runs.resize_with(strategy + 1, Vec::new);
            self.latencies.resize_with(strategy + 1, Vec::new);
        }
        let Finished { result, latencies, .. } = finished;
        self.runs[strategy].push(result.clone());
        self.latencies[strategy].extend(latencies.clone());
    }

    /// Writes all output files. `document` gets the runs. An error in one file does not stop the other files. Returns the first error.
    pub fn finish(self, document: impl FnOnce(Vec<RunResult>) -> Document) -> anyhow::Result<()> {
        let samples = self.samples.map_or(Ok(()), SamplesFile::finish);
        if self.files.is_empty() {
            return samples;
        }
        let runs = self.runs.into_iter().reduce(|mut runs, more| {
            runs.extend(more);
            runs
        });
        let exported = Exported {
            document: document(runs.unwrap_or_default()),
            latencies: self.latencies.into_iter().flatten().collect(),
        };
        let written = self.files.iter().map(|(write, output)| {
            output.write_all_of(&mut |to| {
                let mut to = BufWriter::new(to);
                write(&exported, &mut to)?;
                to.flush()
            })
        });
        written.fold(Ok(()), anyhow::Result::and).and(samples)
    }
}

/// Refuses the same path for two outputs. The later file would overwrite the earlier one, and stdout can carry only one output.
pub fn distinct<'a>(given: impl Iterator<Item = &'a Path>) -> anyhow::Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in given {
        let place = resolved(path);
        if seen.contains(&place) {
            let words = match path.to_str() {
                Some("-") => "two outputs are directed to stdout (`-`); give one of them a file".to_owned(),
                _ => format!("`{}` is named for two outputs; give each its own file", path.display()),
            };
            return Err(usage(words));
        }
        seen.push(place);
    }
    Ok(())
}
