//! A run whose clients were divided among several programs: what each writes of its share, and how shares are put together again.

mod latency_record;
mod merging;
mod possible;
mod record;
mod togetherness;

pub use merging::merged_clients;
pub use record::{ClientShardRecord, ClientsKind, MergedClients, ShardContext, StartRecord, StartedBy};
pub use togetherness::ClientShardError;
