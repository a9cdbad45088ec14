//! Punctual timer of both programs: [`Timer`] sleeps until shortly before an instant and busy-waits for the rest. The
//! margin is the wake-up latency that it has measured.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod early_waking;
mod timer;

pub use timer::Timer;
