//! Flag of a run shard, which is a process that executes only some of the runs.

use clap::Args;
use experiments::runs::shard::Shard;

#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Shards")]
pub(crate) struct ShardArgs {
    /// Execute only every Nth run, starting at run I (from 0), such as `0/4`, and write the results with `--json`. `loadgen merge` turns
    /// the documents of all shards into the document that a single machine would have written.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
}
