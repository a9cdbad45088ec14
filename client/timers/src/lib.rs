//! How both programs wait for an instant: [`Timer`] sleeps until shortly before it, as much as it has learned that waking takes, and
//! stays awake for the rest.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod early_waking;
mod timer;

pub use timer::Timer;
