//! Runs whose clients are divided among several programs: the record of each shard, and their merging.

mod latency_record;
mod merging;
mod possible;
mod record;
mod togetherness;

pub use merging::merged_clients;
pub use record::{ClientShardRecord, ClientsKind, MergedClients, ShardContext, StartRecord, StartedBy};
pub use togetherness::ClientShardError;
