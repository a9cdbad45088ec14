//! Terminal output on the runs of one strategy, before, during and after the runs.

mod answer;
mod before;
mod details;
mod one_run;
mod over_seeds;
mod rows;

pub(crate) use before::{announcement, doubts, progress};
pub(crate) use one_run::run;
pub(crate) use over_seeds::{OverSeeds, SHOWN, several};
