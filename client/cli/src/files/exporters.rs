//! The formats that results are written in. Flags, help, refusals and writing all walk this list.

mod csv;
mod hdr;
mod html;
mod json;
mod samples;

use crate::files::exporter::Format;

/// Every format, in the order of the help.
pub(crate) const EXPORTERS: &[Format] =
    &[json::FORMAT, html::FORMAT, csv::FORMAT, hdr::FORMAT, samples::FORMAT];
