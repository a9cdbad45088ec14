//! Where results go: as JSON, as a page, as rows; all are tried before anything runs.

use std::path::{Path, PathBuf};

use dashboards::report::{Document, page};
use serde::Serialize;

use crate::args::FiguresArgs;
use crate::exit::{Exit, Fatal};
use crate::files::csv_rows::CsvFile;
use crate::files::hdr_log::HdrLog;
use crate::files::output::{Output, resolved};
use crate::one_run::Finished;

/// The outputs that were asked for.
pub(crate) struct Results {
    json: Option<Output>,
    html: Option<Output>,
    csv: Option<CsvFile>,
    hdr: Option<HdrLog>,
}

impl Results {
    /// Makes sure that both can be written.
    pub(crate) fn prepare(json: Option<&Path>, html: Option<&Path>) -> anyhow::Result<Self> {
        distinct([json, html])?;
        let json = json.map(|path| Output::prepare(path, "--json")).transpose()?;
        let html = html.map(|path| Output::prepare(path, "--html")).transpose()?;
        Ok(Self { json, html, csv: None, hdr: None })
    }

    /// The same, and the files that get the figures of every run.
    pub(crate) fn of_runs(
        json: Option<&Path>,
        html: Option<&Path>,
        figures: &FiguresArgs,
    ) -> anyhow::Result<Self> {
        distinct([json, html, figures.csv.as_deref(), figures.hdr.as_deref()])?;
        let csv = figures.csv.as_deref().map(CsvFile::prepare).transpose()?;
        let hdr = figures.hdr.as_deref().map(HdrLog::prepare).transpose()?;
        Ok(Self { csv, hdr, ..Self::prepare(json, html)? })
    }

    /// Whether stdout is taken, so that what people read goes to stderr.
    pub(crate) fn take_stdout(&self) -> bool {
        [&self.json, &self.html].into_iter().flatten().any(Output::is_stdout)
            || self.csv.as_ref().is_some_and(CsvFile::is_stdout)
            || self.hdr.as_ref().is_some_and(HdrLog::is_stdout)
    }

    /// Writes the figures of every run wherever they were wanted.
    pub(crate) fn write_runs<'a>(
        &self,
        runs: impl Iterator<Item = &'a Finished> + Clone,
    ) -> anyhow::Result<()> {
        let csv = self.csv.as_ref().map_or(Ok(()), |csv| csv.write(runs.clone().map(|run| &run.result)));
        // One that fails does not cost the other.
        csv.and(self.hdr.as_ref().map_or(Ok(()), |hdr| hdr.write(runs)))
    }

    /// Whether anybody wants them.
    pub(crate) fn are_wanted(&self) -> bool {
        self.json.is_some() || self.html.is_some()
    }

    /// Writes a result document wherever it was wanted.
    pub(crate) fn write(&self, document: &impl Serialize) -> anyhow::Result<()> {
        if !self.are_wanted() {
            return Ok(());
        }
        let mut text = serde_json::to_string(document)?;
        text.push('\n');
        let json = self.json.as_ref().map_or(Ok(()), |json| json.write(text.as_bytes()));
        let Some(html) = &self.html else { return json };
        let read = Document::read(&[("this result".to_owned(), text)]);
        let read = read.map_err(|error| Fatal::error(Exit::Output, error.to_string()));
        json.and(read.and_then(|read| html.write(page(&read).as_bytes())))
    }
}

/// Refuses one place for two outputs: the later would destroy the earlier, and stdout holds one.
pub(crate) fn distinct<'a>(given: impl IntoIterator<Item = Option<&'a Path>>) -> anyhow::Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in given.into_iter().flatten() {
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
