//! `--html FILE`: the document as a page.

use dashboards::report::{self, Document};

use crate::exit::{Exit, Fatal};
use crate::files::exporter::{Exporter, Format, Results, Source};
use crate::files::output::Output;

pub(super) const FORMAT: Format = Format {
    flag: "--html",
    help: |results| match results {
        Results::Parity | Results::Recordings => None,
        _ => Some("Write a report with pictures to an HTML file that needs no network"),
    },
    from: Source::Document,
    to_stdout: true,
    exporter: |output, _| Box::new(Html { output }),
};

struct Html {
    output: Output,
}

impl Exporter for Html {
    fn finish(self: Box<Self>, document: &str) -> anyhow::Result<()> {
        let read = Document::read(&[("this result".to_owned(), document.to_owned())]);
        let read = read.map_err(|error| Fatal::error(Exit::Output, error.to_string()))?;
        self.output.write(report::html(&read).as_bytes())
    }
}
