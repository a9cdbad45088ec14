//! List of all output formats. The code for flags, help texts, argument checks and writing iterates over this list.

mod csv;
mod hdr;
mod html;
mod json;
mod samples;

use crate::files::exporter::Format;

pub use hdr::HDR;
pub use samples::{Samples, SamplesFile};

pub static EXPORTERS: &[Format] = &[json::FORMAT, html::FORMAT, csv::FORMAT, hdr::FORMAT, samples::FORMAT];
