//! Flags of `loadgen merge`.

use std::path::PathBuf;

use clap::Args;

use crate::args::exports::{ExportArgs, Merged};
use crate::args::{CheckArgs, ExplainArgs, ReportArgs};
use crate::files::exporters::EXPORTERS;
use crate::files::exports::RequestedExport;

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen compare --simulate -s aimd,full-jitter --json 1.json
  loadgen compare --simulate -s aimd,full-jitter --seed 11 --json 2.json
  loadgen merge 1.json 2.json -o all.json --html all.html
      The bytes of one command with 20 seeds, but for the command line.
  loadgen merge shard-*.json --fail-if 'amplification of aimd > 1.2'
      The shards of one command (`--shard 0/2`, `--shard 1/2`), checked together.
  loadgen merge --partial shard-*.json -o partial.json
      Although a shard is missing; the result is marked incomplete (exit code 1).
  loadgen merge --together a.json b.json -o all.json
      Two machines sent their load at the same time, each with its own seed.

The documents must be of the same command and version, with equal conditions and different seeds.

Exit codes: those of the merged command; 1 also with --partial if something is missing; 2 a document is broken, of another command, or repeats a run, or a shard or block is missing: nothing is written.";

/// Arguments of `loadgen merge`: the documents to merge, and the outputs.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Documents that `--json FILE` wrote, with `--shard I/N` or with different seeds.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// File of the merged document, or `-` for stdout (the summary then goes to stderr).
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Merge although shards or blocks are missing. The document is marked incomplete, and the exit code is 1.
    #[arg(long)]
    pub(super) partial: bool,

    /// Add up runs over HTTP that sent their load at the same time.
    ///
    /// Each run has its own machine, seed, and part of `--ops`, `--rate`, `--clients` and `--in-flight`, and all have one target. With
    /// `--partial`, a file that cannot be read is left out.
    #[arg(long)]
    pub(super) together: bool,

    #[command(flatten)]
    pub(crate) checks: CheckArgs,

    #[command(flatten)]
    pub(super) exports: ExportArgs<Merged>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) explain: ExplainArgs,
}

impl MergeArgs {
    pub(crate) fn asked(&self) -> Vec<RequestedExport> {
        let json = EXPORTERS.iter().find(|format| format.flag == "--json");
        let document = json.zip(self.output.clone());
        document.into_iter().chain(self.exports.asked.iter().cloned()).collect()
    }
}
