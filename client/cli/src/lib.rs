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
mod own_server;
mod record;
mod recording;
mod repeats;
mod scenario;
mod schema;
mod secrets;
mod settings;
mod several;
mod shortfall;
mod simulated;
mod target;
mod text;
mod wall_clock;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::commands::{compare, parity, plot, report, reproduce, run, shell, strategies, sweep};

/// The program: reads the command line, does what it says, and returns the exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse_from(mockserver::arguments());
    let result = match cli.command {
        Some(Command::Strategies(args)) => strategies::show(&args),
        Some(Command::Reproduce(args)) => reproduce::run(&args),
        Some(Command::Compare(args)) => compare::run(*args),
        Some(Command::Sweep(args)) => sweep::run(&args),
        Some(Command::Parity(args)) => parity::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Plot(args)) => plot::run(&args),
        Some(Command::Schema) => schema::print(),
        Some(Command::Completions(args)) => shell::completions(&args),
        Some(Command::Man(args)) => shell::man(&args),
        None => run::run(&cli.run),
    };
    match result {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
