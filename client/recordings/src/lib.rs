//! Recordings of real client libraries. A recording is parsed and compared with a strategy, which runs in virtual time. This crate does no
//! I/O, so callers pass the text of files.
//!
//! A recording contains the number and times of a library's retries against a scripted server. [`check`](check()) runs a strategy against
//! the same script, with the same state machines as any simulation. It reports either that the strategy behaves like the library, or the
//! first difference.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod check;
mod compare;
mod ending;
mod grain;
mod map;
mod outcome;
mod pair;
mod probe;
mod raw;
mod replay;
mod rule;

pub use check::{Effort, check, check_within};
pub use map::{Map, MapError, Mapped};
pub use mockserver_core::Script;
pub use outcome::{CheckOutcome, Difference};
pub use pair::{Pair, Recording, RecordingError, read};
pub use probe::waits;
pub use replay::{Clients, Trial, TrialLog};
