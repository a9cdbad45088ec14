//! Punctual timer of `loadgen` and `mockserver`: [`Timer`] sleeps until shortly before an instant and busy-waits for
//! the rest. It measures how late threads wake, and wakes early by that time.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod early_waking;
mod timer;

pub use timer::Timer;
