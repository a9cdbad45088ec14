//! Flags for progress, summary, threads and output files.

use clap::{Args, ValueEnum};
use command_line::count;

use crate::args::exports::{ExportArgs, Run};
use crate::args::screen::ScreenArgs;

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[command(flatten)]
    pub exports: ExportArgs<Run>,

    #[command(flatten)]
    pub screen: ScreenArgs,

    /// Print neither progress nor summary, only errors.
    #[arg(short, long)]
    pub quiet: bool,

    /// Print live figures for other programs to stdout (only over HTTP). Every second, a line of JSON contains the changes since the line
    /// before (`Progress` in `loadgen schema`). The summary then goes to stderr.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "simulate")]
    pub progress: Option<ProgressFormat>,

    /// Threads [default: one per core in virtual time, 1 over HTTP]. In virtual time, results do not depend on the number of threads. Over
    /// HTTP, each thread has its own connections, and one thread makes all decisions of the strategies.
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub threads: Option<u16>,

    /// Print all settings of the run, defaults included, without running it.
    #[arg(long)]
    pub print_config: bool,
}

/// Output formats of live figures, the figures of a run in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressFormat {
    /// Live figures as lines of JSON, with one object per line.
    Ndjson,
}

/// Flags of commands that print one report at the end.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct ReportArgs {
    /// Threads [default: one per core in virtual time, 1 over HTTP]. In virtual time, results do not depend on it.
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub threads: Option<u16>,

    /// Print neither progress nor tables, only errors.
    #[arg(short, long)]
    pub quiet: bool,
}
