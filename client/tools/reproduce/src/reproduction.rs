//! Reproductions: runs of scenarios, recorded data, verdicts on claims, and the resulting document.

mod document;
mod plan;
mod state;
mod tally;

pub use crate::recording::Kept;
pub use document::document;
pub use plan::{HttpChanges, Plan, ScenarioRun};
pub use state::{Changes, Reproduction};
pub use tally::{Counts, Tally};
