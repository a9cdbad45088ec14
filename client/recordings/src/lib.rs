//! Recordings of real client libraries: read, replayed with a strategy in virtual time, and compared. Sans-IO: files come in as text.
//!
//! A recording tells how often and when a library tried again against a scripted server. [`check`](check()) lets a strategy meet the same
//! script, with the same state machines as any simulation, and says whether it does the same, or what differs first.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod check;
mod compare;
mod ending;
mod grain;
mod map;
mod pair;
mod probe;
mod raw;
mod replay;
mod rule;
mod series;
mod verdict;

pub use check::{check, check_strategy};
pub use map::{Map, MapError, Mapped};
pub use mockserver_core::Script;
pub use pair::{Pair, Recording, RecordingError, read};
pub use probe::waits;
pub use verdict::{Difference, Verdict};
