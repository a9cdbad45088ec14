//! Runs divided into shards: checks of `--shard`, the document of one shard, and the merge of all shards.

pub(crate) mod kept;
pub(crate) mod merging;
pub(crate) mod request;
mod watching;
pub(crate) mod written;
