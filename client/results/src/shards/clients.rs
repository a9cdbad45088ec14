//! Runs whose clients are divided among several programs: the record of each shard, and their merging.

mod consistency;
mod latency_record;
mod merging;
mod record;
mod validate;

pub use consistency::ClientShardError;
pub use merging::merged_clients;
pub use record::{ClientShardRecord, ClientsKind, MergedClients, ShardContext, StartRecord, StartedBy};
