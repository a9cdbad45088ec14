//! Merging of documents of one command that have different seeds, and of documents of runs that sent their load together.

mod cells;
mod part;
mod together;

pub use cells::{Merged, MergedPoint, merged};
pub use part::{MergeError, MergedCommand, Part};
pub use together::together;
