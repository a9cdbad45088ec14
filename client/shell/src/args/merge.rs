//! Flags of `loadgen merge`, which the merged commands read.

use std::path::PathBuf;

use clap::Args;

use crate::CheckArgs;
use crate::args::exports::{ExportArgs, Merged};
use crate::args::{ExplainArgs, ReportArgs};
use crate::files::exporters::EXPORTERS;
use crate::files::exports::RequestedExport;

/// Arguments of `loadgen merge`: the documents to merge, and the outputs.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Documents that `--json FILE` wrote, with `--shard I/N` or with different seeds.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// File of the merged document, or `-` for stdout (the summary then goes to stderr).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Merge although shards or blocks are missing. The document is marked incomplete, and the exit code is 1.
    #[arg(long)]
    pub partial: bool,

    /// Add up runs over HTTP that sent their load at the same time.
    ///
    /// Each run has its own machine, seed, and part of `--ops`, `--rate`, `--clients` and `--in-flight`, and all have one target. With
    /// `--partial`, a file that cannot be read is left out.
    #[arg(long)]
    pub together: bool,

    #[command(flatten)]
    pub checks: CheckArgs,

    #[command(flatten)]
    pub exports: ExportArgs<Merged>,

    #[command(flatten)]
    pub report: ReportArgs,

    #[command(flatten)]
    pub explain: ExplainArgs,
}

impl MergeArgs {
    pub fn asked(&self) -> Vec<RequestedExport> {
        let json = EXPORTERS.iter().find(|format| format.flag == "--json");
        let document = json.zip(self.output.clone());
        document.into_iter().chain(self.exports.asked.iter().cloned()).collect()
    }
}
