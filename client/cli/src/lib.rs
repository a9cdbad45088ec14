//! The command line of `loadgen`: from what was typed to runs, and from runs to screens and files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod args;
mod board;
mod causes;
mod checks;
mod compare;
mod connection_room;
mod csv_rows;
mod exit;
mod experiment;
mod figures;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hdr_log;
mod interrupt;
mod kept_latencies;
mod one_run;
mod opponent;
mod output;
mod own_server;
mod parity;
mod plot;
mod progress;
mod reading;
mod record;
mod recording;
mod repeats;
mod report;
mod reproduce;
mod results;
mod samples;
mod scenario;
mod schema;
mod secrets;
mod settings;
mod several;
mod shell;
mod shortfall;
mod simulated;
mod stderr;
mod strategies;
mod streamed;
mod summary;
mod sweep;
mod target;
mod wall_clock;
mod watch;
mod wrapping;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

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
        None => experiment::run(&cli.run),
    };
    match result {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
