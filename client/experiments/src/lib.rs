//! Experiments as a library. It needs no command line and no terminal, and it never ends the process.
//!
//! Callers pass parsed settings. They receive an [`Experiment`], whose type guarantees that its settings are valid, or an [`Error`]. The
//! kind of the error shows whether the caller's input caused it.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod checks;
mod error;
pub mod evaluation;
mod experiment;
mod load;
pub mod record;
pub mod restored;
pub mod runs;
pub mod servers;
pub mod workload;

pub use error::{Error, ErrorKind, words_of};
pub use experiment::{Admin, Experiment, Sending};
pub use load::{Load, limits_per_s};
