//! `--html FILE`: writes the result document as an HTML report.

use std::io;

use dashboards::report::{self, Document};

use crate::files::exporter::{Format, Results};

pub(super) const FORMAT: Format = Format {
    flag: "--html",
    help: |results| match results {
        Results::Recordings => None,
        _ => Some("Write an HTML report; it needs no network"),
    },
    write: Some(|exported, to| {
        let mut text = Vec::new();
        exported.document.write(&mut text)?;
        let text = String::from_utf8(text).map_err(io::Error::other)?;
        let read = Document::read(&[("this result".to_owned(), text)]).map_err(io::Error::other)?;
        to.write_all(report::html(&read).as_bytes())
    }),
};
