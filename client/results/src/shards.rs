//! Parts of a whole that were made apart, on other machines perhaps: their documents, and how they are put together again.

mod assembled;
mod document;
mod incomplete;
mod kind;
mod plan;

pub use assembled::{Assembled, Assembly, ShardError};
pub use document::{ReadShard, TaskRecord, TaskShard};
pub use incomplete::Incomplete;
pub use kind::{ShardKind, ShardOf};
pub use plan::{PlannedPoint, PlannedServer, ShardPlan, ShardedCommand};
