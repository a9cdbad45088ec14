//! Output files, stdout, and input files that are read as a whole.

pub mod documents;
pub mod exporter;
pub mod exporters;
pub mod exports;
pub mod output;
pub mod reading;
pub(crate) mod stdout;
