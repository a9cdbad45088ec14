//! Runs in shards: checks of `--shard`, the document of one shard, and the merge of all.

pub(crate) mod asked;
pub(crate) mod kept;
pub(crate) mod merging;
mod watching;
pub(crate) mod written;
