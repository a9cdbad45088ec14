//! The command line of `loadgen`: from what was typed to runs, and from runs to screens and files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod args;
mod board;
mod checks;
mod commands;
mod connection_room;
mod exit;
mod files;
#[cfg(fuzzing)]
pub mod fuzzing;
mod interrupt;
mod kept_latencies;
mod one_run;
mod opponent;
mod record;
mod repeats;
mod runs;
mod scenario;
mod schema;
mod secrets;
mod settings;
mod several;
mod shortfall;
mod target;
mod text;
mod wall_clock;
mod watch;

use std::process::ExitCode;

/// The program: reads the command line, does what it says, and returns the exit code.
pub fn main() -> ExitCode {
    commands::of_command_line().unwrap_or_else(|error| exit::report(&error))
}
