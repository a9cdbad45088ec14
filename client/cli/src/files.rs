//! What is written to files and to stdout, and what is read from files.

pub(crate) mod exporter;
pub(crate) mod exporters;
pub(crate) mod exports;
mod gathered;
pub(crate) mod line_writer;
pub(crate) mod output;
pub(crate) mod reading;
mod replacement;
pub(crate) mod spool;
mod stdout;
pub(crate) mod streamed;
