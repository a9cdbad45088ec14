//! The flag for details behind the answer.

use clap::Args;

/// Whether the details behind an answer are printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct ExplainArgs {
    /// Print all details: legend, intervals, every pair, side effects, warnings in full.
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
}
