//! Where the results of runs go, and how much is said.

use clap::{Args, ValueEnum};
use mockserver::count;

use super::exports::{ExportArgs, Run};
use super::screen::ScreenArgs;

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) exports: ExportArgs<Run>,

    #[command(flatten)]
    pub(crate) screen: ScreenArgs,

    /// No progress and no summary; errors are still told.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Live figures for programs, on stdout: over HTTP a line of JSON a second with what happened since the one before (`Progress` in `loadgen
    /// schema`). The summary then goes to stderr.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "simulate")]
    pub(crate) progress: Option<ProgressFormat>,

    /// Threads: in virtual time for repeats [default: one per core], on which results do not depend; over HTTP to carry
    /// attempts, each with connections of its own, while one decides for all [default: 1].
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub(crate) threads: Option<u16>,

    /// Print everything a run would use, defaults included, and do not run.
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// In which form a run tells how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressFormat {
    /// One JSON object a line.
    Ndjson,
}

/// How much is said, and by how many threads it is found out.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportArgs {
    /// Threads for simulated runs [default: one per core]; results do not depend on it. What `compare` and `sweep` send over
    /// HTTP is carried by as many [default: 1].
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub(crate) threads: Option<u16>,

    /// No progress and no tables; errors are still told.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
