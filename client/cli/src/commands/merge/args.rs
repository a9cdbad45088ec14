//! What `loadgen merge` can be told.

use std::path::PathBuf;

use clap::Args;

use crate::args::exports::{ExportArgs, Merged};
use crate::args::{CheckArgs, ExplainArgs, ReportArgs};
use crate::files::exporters::EXPORTERS;
use crate::files::exports::Asked;

pub(crate) const EXAMPLES: &str = "\
Examples:
  loadgen sweep --simulate --strategies aimd,full-jitter --vary ops=50,500,5000 --shard 0/2 --json 0.json
  loadgen sweep --simulate --strategies aimd,full-jitter --vary ops=50,500,5000 --shard 1/2 --json 1.json
  loadgen merge 0.json 1.json -o sweep.json --html sweep.html --csv sweep.csv
      the same bytes as without `--shard`; shards may be done on other machines, at the same time
  loadgen merge compare-*.json --fail-if 'amplification of aimd > 1.2'
      conditions and baselines are judged when all runs are there
  loadgen merge --partial shard-*.json -o what-is-there.json
      although a shard is lost: marked incomplete, and exit code 1

Shards must be of the same command and the same version; any order will do.
Exit codes: those of the command that was done in shards; 1 also with --partial when something is missing, 2 when a shard is missing,
doubled, broken or of something else: then nothing is written.";

/// What is merged, and what is made of it.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Documents of all shards, as `--shard I/N --json FILE` wrote them.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Where to write the merged document, or `-` for stdout (the summary then goes to stderr).
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Merge what is there when shards or runs are missing. The document is marked incomplete, and the exit code is 1.
    #[arg(long)]
    pub(super) partial: bool,

    #[command(flatten)]
    pub(super) checks: CheckArgs,

    #[command(flatten)]
    pub(super) exports: ExportArgs<Merged>,

    #[command(flatten)]
    pub(super) report: ReportArgs,

    #[command(flatten)]
    pub(super) explain: ExplainArgs,
}

impl MergeArgs {
    /// The files that are to be written.
    pub(super) fn asked(&self) -> Vec<Asked> {
        let json = EXPORTERS.iter().find(|format| format.flag == "--json");
        let document = json.zip(self.output.clone());
        document.into_iter().chain(self.exports.asked.iter().cloned()).collect()
    }
}
