//! What to show of a run, and where: on a live terminal dashboard, or as one plain line; and of finished
//! runs as plots and reports.
//!
//! The dashboard reads copies of a run's measurements and never touches the run itself. Its parts are kept apart:
//! `figures` computes what is shown and knows no terminal; `terminal` holds the state of the view, the keys, the
//! widgets and the screen. `report` shares nothing with them but numbers as texts: it reads result files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod figures;
mod lanes;
mod lanes_line;
mod model;
mod progress_line;
pub mod report;
mod smoothing;
#[cfg(test)]
mod synthetic_lanes;
#[cfg(test)]
mod synthetic_run;
mod terminal;
mod text;

pub use lanes::{Column, Lane, Lanes, LanesHeader, Spread, Unit};
pub use lanes_line::lanes_line;
pub use model::{Action, Background, Frame, GeneratorState, Header, Liveness, PolicyName};
pub use progress_line::progress_line;
pub use terminal::{WatchError, restore, watch, watch_lanes};
