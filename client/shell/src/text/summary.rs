//! Terminal output on the runs of one strategy, before, during and after the runs.

mod answer;
mod before;
mod one_run;
mod over_seeds;
mod rows;

pub use before::{announcement, doubts, progress};
pub use one_run::run;
pub use over_seeds::{OverSeeds, SHOWN, several};
