//! Shared parts of the commands of `loadgen`: flags, input and output files, texts, live views, the execution of runs, checks, signals and exit
//! codes. It knows no command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod args;
pub mod checks;
pub mod exit;
pub mod files;
pub mod merging;
pub mod runner;
pub mod screen;
pub mod secrets;
pub mod settings;
pub mod shards;
pub mod text;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use args::{CheckArgs, MergeArgs, MultiArgs, RunArgs, StrategyList};
pub use checks::Checks;
pub use exit::{Exit, Fatal, exit_code, usage, usage_because};
pub use files::exports::Exports;
pub use files::output::Output;
pub use merging::Merging;
pub use runner::Runner;
pub use runner::failures::Failures;
pub use runner::interrupt::Interrupt;
pub use screen::board::Board;

/// Locks a mutex, even after a thread panicked while it held the lock.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
