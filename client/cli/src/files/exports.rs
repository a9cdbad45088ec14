//! The files that were asked for: all are tried before anything runs, and written while and after it does.

use std::path::{Path, PathBuf};
use std::time::Duration;

use experiments::runs::attempt_sinks::joined;
use experiments::runs::one_run::Finished;
use loadgen_core::SampleSink;
use serde::Serialize;

use crate::exit::{Exit, Fatal};
use crate::files::exporter::{Attempts, ExportedRun, Exporter, Format, Layout, Source, TakenRun};
use crate::files::output::{Output, resolved};

/// What a flag asked for, and where it goes.
pub(crate) type Asked = (&'static Format, PathBuf);

/// The files that are being written.
pub(crate) struct Exports {
    files: Vec<Exported>,
    layout: Layout,
    stdout_is_taken: bool,
}

/// What files have of runs while these go on, on whichever thread.
pub(crate) struct OnTheWay {
    formats: Vec<&'static Format>,
    layout: Layout,
    attempts: Vec<Box<dyn Attempts>>,
}

impl OnTheWay {
    /// Who takes the attempts of the run with this seed, which is about to begin.
    pub(crate) fn attempts_of(&self, seed: u64) -> Option<SampleSink> {
        joined(self.attempts.iter().map(|attempts| attempts.of(seed)))
    }

    /// How long whoever brought attempts had to wait since this was last asked.
    pub(crate) fn held_up(&self) -> Duration {
        self.attempts.iter().map(|attempts| attempts.held_up()).sum()
    }

    /// What every file says of a run that is over.
    pub(crate) fn texts_of(&self, run: &ExportedRun<'_>) -> anyhow::Result<Vec<Vec<u8>>> {
        let text = |format: &&Format| format.text.map_or(Ok(Vec::new()), |text| text(run, &self.layout));
        self.formats.iter().map(text).collect()
    }
}

/// One of them.
struct Exported {
    format: &'static Format,
    /// What it has come to: one file that cannot be written costs neither the others nor what was measured.
    state: anyhow::Result<Box<dyn Exporter>>,
}

impl Exports {
    /// Makes sure that everything can be written, each to a place of its own; `others` are written elsewhere.
    pub(crate) fn prepare(asked: &[Asked], layout: &Layout, others: &[&Path]) -> anyhow::Result<Self> {
        distinct(asked.iter().map(|(_, path)| path.as_path()).chain(others.iter().copied()))?;
        let stdout_is_taken = others.contains(&Path::new("-"));
        let mut exports = Self { files: Vec::new(), layout: layout.clone(), stdout_is_taken };
        for (format, path) in asked {
            if !format.to_stdout && path == Path::new("-") {
                let words =
                    format!("`{}` needs a file; stdout is for the summary or `--json -`", format.flag);
                return Err(Fatal::error(Exit::Usage, words));
            }
            let output = Output::prepare(path, format.flag)?;
            exports.stdout_is_taken |= output.is_stdout();
            exports.files.push(Exported { format, state: Ok((format.exporter)(output, layout)) });
        }
        Ok(exports)
    }

    /// Opens what is written while runs go on.
    ///
    /// # Errors
    /// When one cannot be opened; nothing has run yet.
    pub(crate) fn begin(&mut self) -> anyhow::Result<()> {
        self.files
            .iter_mut()
            .filter_map(|file| file.state.as_mut().ok())
            .try_for_each(|exporter| exporter.begin())
    }

    /// Whether stdout is taken, so that what people read goes to stderr.
    pub(crate) fn take_stdout(&self) -> bool {
        self.stdout_is_taken
    }

    /// Whether anything is made of this.
    pub(crate) fn want(&self, source: Source) -> bool {
        self.files.iter().any(|file| file.format.from == source)
    }

    /// What is to be asked while runs go on.
    pub(crate) fn on_the_way(&self) -> OnTheWay {
        let exporters = self.files.iter().filter_map(|file| file.state.as_ref().ok());
        OnTheWay {
            formats: self.files.iter().map(|file| file.format).collect(),
            layout: self.layout.clone(),
            attempts: exporters.filter_map(|exporter| exporter.attempts()).collect(),
        }
    }

    /// Takes a run that is over, with what every file says of it.
    pub(crate) fn on_run(&mut self, strategy: usize, finished: &Finished, texts: &[Vec<u8>]) {
        for (file, text) in self.files.iter_mut().zip(texts) {
            if let Ok(exporter) = &mut file.state
                && let Err(error) = exporter.on_run(&TakenRun { strategy, finished, text })
            {
                file.state = Err(error);
            }
        }
    }

    /// Writes what remains, this document included, and gives all files their names; the first that failed is told.
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

/// Refuses one place for two outputs: the later would destroy the earlier, and stdout holds one.
pub(crate) fn distinct<'a>(given: impl Iterator<Item = &'a Path>) -> anyhow::Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in given {
        let place = resolved(path);
        if seen.contains(&place) {
            let words = match path.to_str() {
                Some("-") => "stdout (`-`) is given for two outputs; give one of them a file".to_owned(),
                _ => format!("`{}` is given for two outputs; give each a file of its own", path.display()),
            };
            return Err(Fatal::error(Exit::Usage, words));
        }
        seen.push(place);
    }
    Ok(())
}
