//! Output files, stdout, and input files that are read as a whole.

pub(crate) mod exporter;
pub(crate) mod exporters;
pub(crate) mod exports;
pub(crate) mod line_writer;
pub(crate) mod output;
pub(crate) mod reading;
mod replacement;
mod stdout;
