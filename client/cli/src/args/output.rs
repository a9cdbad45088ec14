//! Where the results of runs go.

use std::path::PathBuf;

use clap::Args;
use mockserver::count;

use super::screen::ScreenArgs;

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the result as JSON to a file, or to stdout with `-` (the summary then goes to stderr).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write a report with pictures to an HTML file that needs no network.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) figures: FiguresArgs,

    /// Write every attempt to a file, one JSON object a line, while runs go on.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) screen: ScreenArgs,

    /// No progress and no summary; errors are still told.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Threads for simulated repeats [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub(crate) threads: Option<u16>,

    /// Print everything a run would use, defaults included, and do not run.
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// Files with the figures of every run, for other programs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct FiguresArgs {
    /// Write every figure of every run to a CSV file, one row a run, or to stdout with `-`.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Write op latencies to a V2 interval log of HDR histograms, one interval a run, its strategy as the tag.
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr: Option<PathBuf>,
}

/// Where a report goes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportArgs {
    /// Write all figures and verdicts as JSON to a file, or to stdout with `-`.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Threads for simulated runs [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub(crate) threads: Option<u16>,

    /// No progress and no tables; errors are still told.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
