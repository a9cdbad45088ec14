//! Output files of a command. All files are checked before the first run, and written during and after the runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use experiments::runs::attempt_sinks::joined;
use experiments::runs::one_run::Finished;
use loadgen_core::SampleSink;
use serde::Serialize;

use crate::exit::{Exit, Fatal};
use crate::files::exporter::{Attempts, ExportedRun, Exporter, Format, Layout, Source, TakenRun};
use crate::files::output::{Output, resolved};

pub(crate) type RequestedExport = (&'static Format, PathBuf);

pub(crate) struct Exports {
    files: Vec<Exported>,
    layout: Layout,
    stdout_is_claimed: bool,
}

/// Output formats as the threads that execute runs use them. They receive the attempts of each run, and format the text of each run.
pub(crate) struct InFlightExports {
    formats: Vec<&'static Format>,
    layout: Layout,
    attempts: Vec<Box<dyn Attempts>>,
}

impl InFlightExports {
    pub(crate) fn attempts_of(&self, seed: u64) -> Option<SampleSink> {
        joined(self.attempts.iter().map(|attempts| attempts.of(seed)))
    }

    pub(crate) fn held_up(&self) -> Duration {
        self.attempts.iter().map(|attempts| attempts.held_up()).sum()
    }

    pub(crate) fn texts_of(&self, run: &ExportedRun<'_>) -> anyhow::Result<Vec<Vec<u8>>> {
        let text = |format: &&Format| format.text.map_or(Ok(Vec::new()), |text| text(run, &self.layout));
        self.formats.iter().map(text).collect()
    }
}

struct Exported {
    format: &'static Format,
    /// Exporter while it is open, or the error that closed it. One failing file affects neither the other files nor the measurements.
    state: anyhow::Result<Box<dyn Exporter>>,
}

impl Exports {
    /// Checks that all outputs can be written and that their paths differ. `others` are paths of outputs that other code writes.
    pub(crate) fn prepare(
        asked: &[RequestedExport],
        layout: &Layout,
        others: &[&Path],
    ) -> anyhow::Result<Self> {
        distinct(asked.iter().map(|(_, path)| path.as_path()).chain(others.iter().copied()))?;
        let stdout_is_claimed = others.contains(&Path::new("-"));
        let mut exports = Self { files: Vec::new(), layout: layout.clone(), stdout_is_claimed };
        for (format, path) in asked {
            if !format.to_stdout && path == Path::new("-") {
                let words =
                    format!("`{}` needs a file; stdout is for the summary or `--json -`", format.flag);
                return Err(Fatal::error(Exit::Usage, words));
            }
            let output = Output::prepare(path, format.flag)?;
            exports.stdout_is_claimed |= output.is_stdout();
            exports.files.push(Exported { format, state: Ok((format.exporter)(output, layout)) });
        }
        Ok(exports)
    }

    pub(crate) fn begin(&mut self) -> anyhow::Result<()> {
        self.files
            .iter_mut()
            .filter_map(|file| file.state.as_mut().ok())
            .try_for_each(|exporter| exporter.begin())
    }

    /// True if an output goes to stdout. Texts for people must then go to stderr.
    pub(crate) fn claim_stdout(&self) -> bool {
        self.stdout_is_claimed
    }

    pub(crate) fn want(&self, source: Source) -> bool {
        self.files.iter().any(|file| file.format.from == source)
    }

    pub(crate) fn on_the_way(&self) -> InFlightExports {
        let exporters = self.files.iter().filter_map(|file| file.state.as_ref().ok());
        InFlightExports {
            formats: self.files.iter().map(|file| file.format).collect(),
            layout: self.layout.clone(),
            attempts: exporters.filter_map(|exporter| exporter.attempts()).collect(),
        }
    }

    pub(crate) fn on_run(&mut self, strategy: usize, finished: &Finished, texts: &[Vec<u8>]) {
        for (file, text) in self.files.iter_mut().zip(texts) {
            if let Ok(exporter) = &mut file.state
                && let Err(error) = exporter.on_run(&TakenRun { strategy, finished, text })
            {
                file.state = Err(error);
            }
        }
    }

    /// Writes the rest of all output files and completes them. An error in one file does not stop the other files. Returns the first error.
    pub(crate) fn finish(self, document: &impl Serialize) -> anyhow::Result<()> {
        let mut text = String::new();
        if self.want(Source::Document) {
            text = serde_json::to_string(document)?;
            text.push('\n');
        }
        let files = self.files.into_iter();
        files
            .map(|file| file.state.and_then(|exporter| exporter.finish(&text)))
            .fold(Ok(()), anyhow::Result::and)
    }
}

/// Refuses the same path for two outputs. The later file would overwrite the earlier one, and stdout can carry only one output.
pub(crate) fn distinct<'a>(given: impl Iterator<Item = &'a Path>) -> anyhow::Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in given {
        let place = resolved(path);
        if seen.contains(&place) {
            let words = match path.to_str() {
                Some("-") => "two outputs are directed to stdout (`-`); give one of them a file".to_owned(),
                _ => format!("`{}` is named for two outputs; give each its own file", path.display()),
            };
            return Err(Fatal::error(Exit::Usage, words));
        }
        seen.push(place);
    }
    Ok(())
}
