//! Merging of documents of one command that have different seeds, and of documents of runs that sent their load together.

mod cells;
mod incomplete;
mod part;
mod together;

pub use cells::{Merged, MergedPoint, merged};
pub use incomplete::Incomplete;
pub use part::{MergedCommand, Part, ShardRecord};
pub use together::{MergedLoad, together};

/// Reason why documents cannot be merged, with the names of their files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MergeError(String);
