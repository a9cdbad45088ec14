//! Reproductions: the runs of scenarios, the data kept of them, the verdicts of claims, and the document of all.

mod document;
mod drawn;
mod plan;
mod recordings;
mod state;
mod tally;

pub use document::document;
pub use drawn::Kept;
pub use plan::{HttpChanges, Plan, ScenarioRun};
pub use state::{Changes, Reproduction};
pub use tally::{Counts, Tally};
