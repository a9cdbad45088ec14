//! Reproductions: the runs that scenarios take, what is kept of them, what their claims come to, and the document of all.

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
