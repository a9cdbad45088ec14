//! Which part of the work is done here, where others do the rest.

use clap::Args;
use experiments::runs::shard::Shard;

#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Shards")]
pub(crate) struct ShardArgs {
    /// Do every Nth run only, from run I on (from 0), such as `0/4`, and write them with `--json` for `loadgen merge`, which makes of
    /// all shards what one machine would have written.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
}
