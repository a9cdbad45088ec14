//! Parts of a command's runs that were executed separately, perhaps on other machines: their documents, and their
//! merging.

mod assembled;
pub(crate) mod clients;
mod document;
mod incomplete;
mod kind;
mod plan;

pub use assembled::{Assembled, Assembly, ShardError};
pub use document::{ReadShard, TaskRecord, TaskShard};
pub use incomplete::Incomplete;
pub use kind::{ShardKind, ShardOf};
pub use plan::{PlannedPoint, PlannedServer, ShardPlan, ShardedCommand};
