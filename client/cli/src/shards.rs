//! Runs in shards: what of a command line does not go with `--shard`, the document of one shard, and what is merged of all.

pub(crate) mod asked;
pub(crate) mod kept;
pub(crate) mod merging;
mod watching;
pub(crate) mod written;
