//! Where results go: as JSON, as a page, or both; both are tried before anything runs.

use std::path::Path;

use dashboards::report::{Document, page};
use serde::Serialize;

use crate::exit::{Exit, Fatal};
use crate::output::Output;

/// The outputs that were asked for.
pub(crate) struct Results {
    json: Option<Output>,
    html: Option<Output>,
}

impl Results {
    /// Makes sure that both can be written.
    pub(crate) fn prepare(json: Option<&Path>, html: Option<&Path>) -> anyhow::Result<Self> {
        let json = json.map(|path| Output::prepare(path, "--json")).transpose()?;
        let html = html.map(|path| Output::prepare(path, "--html")).transpose()?;
        if [&json, &html].into_iter().flatten().filter(|output| output.is_stdout()).count() > 1 {
            return Err(Fatal::error(Exit::Usage, "`--json -` and `--html -` cannot both have stdout"));
        }
        Ok(Self { json, html })
    }

    /// Whether stdout is taken, so that what people read goes to stderr.
    pub(crate) fn take_stdout(&self) -> bool {
        [&self.json, &self.html].into_iter().flatten().any(Output::is_stdout)
    }

    /// Writes a result document wherever it was wanted.
    pub(crate) fn write(&self, document: &impl Serialize) -> anyhow::Result<()> {
        if self.json.is_none() && self.html.is_none() {
            return Ok(());
        }
        let mut text = serde_json::to_string(document)?;
        text.push('\n');
        if let Some(json) = &self.json {
            json.write(text.as_bytes())?;
        }
        if let Some(html) = &self.html {
            let read = Document::read(&[("this result".to_owned(), text)]);
            let read = read.map_err(|error| Fatal::error(Exit::Output, error.to_string()))?;
            html.write(page(&read).as_bytes())?;
        }
        Ok(())
    }
}
