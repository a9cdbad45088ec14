//! What is written to files and to stdout, and what is read from files.

pub(crate) mod csv_rows;
pub(crate) mod hdr_log;
pub(crate) mod output;
pub(crate) mod reading;
mod replacement;
pub(crate) mod results;
pub(crate) mod samples;
mod stdout;
pub(crate) mod streamed;
