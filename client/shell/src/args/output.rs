//! Flags for progress, summary, threads and output files.

use clap::{Args, ValueEnum};
use command_line::count;
use dashboards::Background;

use crate::args::exports::{ExportArgs, Run};

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
    /// HTTP, each thread has its own connections.
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

/// Flag that prints details in addition to a command's short answer.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ExplainArgs {
    /// Print all details: legend, intervals, every pair, side effects, warnings in full.
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
}

/// Flags that turn off the dashboard and select its colours.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct ScreenArgs {
    /// Print one plain line a second on stderr instead of the dashboard.
    #[arg(long)]
    pub no_tui: bool,

    /// Colours for a dark or a light terminal. `auto` follows the environment variable `COLORFGBG`; without the variable, the colours suit
    /// both.
    #[arg(long, value_enum, default_value_t = Theme::Auto, value_name = "THEME")]
    pub theme: Theme,
}

/// Theme that matches the background of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Theme for the background that the terminal reports in the environment variable `COLORFGBG`.
    Auto,
    /// Theme for terminals with a dark background.
    Dark,
    /// Theme for terminals with a light background.
    Light,
}

impl From<Theme> for Background {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Auto => Self::Auto,
            Theme::Dark => Self::Dark,
            Theme::Light => Self::Light,
        }
    }
}
