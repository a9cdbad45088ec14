//! List of the output formats. Flags, help texts, refusals and writing all iterate over it.

mod csv;
mod hdr;
mod html;
mod json;
mod samples;

use crate::files::exporter::Format;

pub(crate) const EXPORTERS: &[Format] =
    &[json::FORMAT, html::FORMAT, csv::FORMAT, hdr::FORMAT, samples::FORMAT];
