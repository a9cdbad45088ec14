//! Views of runs: a live terminal dashboard or one plain line while they last, plots and reports once they are
//! finished.
//!
//! The dashboard reads copies of a run's measurements and never touches the run itself. The parts of the dashboard are
//! separate. `figures` computes the values and does not depend on a terminal. `terminal` holds the state of the view,
//! the keys, the widgets and the screen. `report` shares only the formatting of numbers with the dashboard, because it
//! reads result files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod figures;
mod lanes;
mod lanes_line;
mod model;
mod progress_line;
pub mod report;
mod smoothing;
mod terminal;
#[cfg(test)]
mod tests {
    pub(crate) mod synthetic_lanes;
    pub(crate) mod synthetic_run;
}
mod text;

pub use lanes::{Column, Lane, Lanes, LanesHeader, Spread, Unit};
pub use lanes_line::lanes_line;
pub use model::{Action, Background, Frame, GeneratorState, Header, Liveness, PolicyName};
pub use progress_line::progress_line;
pub use terminal::{WatchError, restore, watch, watch_lanes};
