//! Reproductions: scenarios with what is kept of their runs, what their claims come to, and the document of all.

mod document;
mod drawn;
mod state;
mod tally;

pub use document::document;
pub use drawn::{Kept, PlotRecording};
pub use state::{Changes, Reproduction};
pub use tally::{Counts, Tally};
