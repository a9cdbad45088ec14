//! Experiments as a library: what is run, how often and against what; no command line, no terminal, no exit of the process.
//!
//! Whoever calls hands in what was typed or read, gets an [`Experiment`] that is valid by type, or an [`Error`] that says
//! whether its caller is to blame.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod checks;
pub mod dividing;
mod error;
mod experiment;
pub mod judge;
mod load;
pub mod planned;
pub mod record;
pub mod recording;
pub mod reproduction;
pub mod runs;
pub mod scenario;
pub mod servers;
mod sharded;
pub mod survey;
pub mod workload;

pub use error::{Error, ErrorKind, words_of};
pub use experiment::{Admin, Experiment, Sending};
pub use load::Load;
pub use sharded::{BarrierChoice, Sharded, StartChoice};
