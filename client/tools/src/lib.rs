//! Command line of `loadgen`: parses arguments, executes runs, and writes summaries and files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod commands;
mod compare;
mod completions;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod merge;
mod plot;
mod report;
mod run;
mod strategies;
mod sweep;

use std::process::ExitCode;

use shell::Interrupt;

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
    done.unwrap_or_else(|error| shell::exit::report(&error))
}

/// Returns the schema of all documents of `loadgen`, which is stored in `docs/result.schema.json`.
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    results::schema(|generator| {
        generator.subschema_for::<strategies::RecordingsCheck>();
        vec![
            generator.subschema_for::<recommend::Recommendation>(),
            generator.subschema_for::<judge::Judgement>(),
        ]
    })
}
