//! Flag `--explain`, which prints details in addition to a command's short answer.

use clap::Args;

/// Flag that prints details in addition to a command's short answer.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ExplainArgs {
    /// Print all details: legend, intervals, every pair, side effects, warnings in full.
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
}
