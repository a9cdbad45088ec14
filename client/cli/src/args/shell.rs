//! What shells and manuals can be told about the command line, and what `loadgen completions` and `loadgen man` can.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

pub(crate) use mockserver::suggesting;

/// Which shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell that completes.
    pub(crate) shell: Shell,
}

/// Where man pages go.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write a page for the program and one for each subcommand to this directory [default: loadgen(1) to stdout].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// The names of all strategies.
pub(crate) fn strategies() -> impl Iterator<Item = &'static str> {
    tailback::STRATEGIES.iter().map(|entry| entry.name)
}

/// The names of all figures that do not depend on a scenario.
pub(crate) fn figures() -> impl Iterator<Item = &'static str> {
    dashboards::report::FIGURES.iter().map(|entry| entry.name)
}

/// The names of all scenarios that are there.
pub(crate) fn scenarios() -> impl Iterator<Item = &'static str> {
    crate::scenario::EMBEDDED.iter().map(|(name, _)| *name)
}
