//! What `loadgen` can do: one file a command, whose flags stand in it or beside it.

mod compare;
mod merge;
mod parity;
mod plot;
mod report;
mod reproduce;
mod run;
mod shell;
mod strategies;
mod survey;
pub(crate) mod sweep;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::args::RunArgs;
use crate::schema;

/// Finds out what a retry or throttling strategy costs against a throttling server.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version, after_help = run::EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

/// What can be done besides one run.
#[derive(Debug, Subcommand)]
enum Command {
    /// List the strategies, explain one (rule, parameters, defaults, source), or hold recordings of real clients against them.
    #[command(after_help = strategies::EXAMPLES)]
    Strategies(strategies::StrategiesArgs),
    /// Check the claims of the documents that Tailback comes from, or of your own scenario, one by one.
    #[command(after_help = reproduce::args::EXAMPLES)]
    Reproduce(reproduce::args::ReproduceArgs),
    /// Compare strategies: blocks of equal luck, a ranked table, and what the differences are worth.
    #[command(after_help = compare::args::EXAMPLES)]
    Compare(Box<compare::args::CompareArgs>),
    /// Vary parameters or workload: every strategy at every point, figures against what was varied, the best point.
    #[command(after_help = sweep::args::EXAMPLES)]
    Sweep(Box<sweep::args::SweepArgs>),
    /// Run strategies against many servers drawn at random, and divide what they need by what one of them needs.
    #[command(hide = true, after_help = survey::args::EXAMPLES)]
    Survey(survey::args::SurveyArgs),
    /// Put the documents of shards together: what one machine would have written.
    #[command(after_help = merge::args::EXAMPLES)]
    Merge(Box<merge::args::MergeArgs>),
    /// Run the same through both drivers, virtual time and real HTTP, and compare figure by figure.
    #[command(after_help = parity::args::EXAMPLES)]
    Parity(parity::args::ParityArgs),
    /// Make one HTML page of result files: the answer, a table, pictures, and everything needed to repeat it.
    #[command(after_help = report::EXAMPLES)]
    Report(report::PageArgs),
    /// Draw one figure of result files, as text or as SVG.
    Plot(plot::PlotArgs),
    /// Print the JSON schema of results.
    Schema,
    /// Print a script that lets a shell complete the command line.
    Completions(shell::CompletionsArgs),
    /// Print the man page, or write one per subcommand.
    Man(shell::ManArgs),
}

/// Does what was typed.
pub(crate) fn of_command_line() -> anyhow::Result<ExitCode> {
    of_arguments(&mockserver::arguments())
}

/// The same with the name of the program first.
fn of_arguments(typed: &[OsString]) -> anyhow::Result<ExitCode> {
    let cli: Cli = mockserver::parsed(typed);
    match cli.command {
        None => run::run(&cli.run),
        Some(Command::Strategies(args)) => strategies::show(&args),
        Some(Command::Reproduce(args)) => reproduce::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Sweep(args)) => sweep::run(&args, typed),
        Some(Command::Survey(args)) => survey::run(&args),
        Some(Command::Merge(args)) => merge::run(&args),
        Some(Command::Parity(args)) => parity::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Plot(args)) => plot::run(&args),
        Some(Command::Schema) => schema::print(),
        Some(Command::Completions(args)) => shell::completions(&args, Cli::command()),
        Some(Command::Man(args)) => shell::man(&args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
