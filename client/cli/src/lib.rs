//! Command line of `loadgen`: parses arguments, executes runs, and writes summaries and files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod args;
mod checks;
mod commands;
mod exit;
mod files;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod runner;
mod scenario;
mod screen;
mod secrets;
mod shards;
mod text;

use std::process::ExitCode;

use runner::interrupt::Interrupt;

/// Parses a command line without executing it. Used by the tests of the documentation.
///
/// # Errors
/// The error describes what is wrong with the command line.
#[doc(hidden)]
pub fn parse(words: &[String]) -> Result<(), String> {
    commands::parse(words)
}

pub fn main() -> ExitCode {
    let done = Interrupt::install().and_then(|_| commands::of_command_line());
    done.unwrap_or_else(|error| exit::report(&error))
}
