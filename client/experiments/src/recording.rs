//! Recorders of single runs, for the plots that a scenario requests. The amount of recorded data is bounded, however
//! long a run is: excess data is thinned, and the plot states how.

mod calls;
mod clients;
mod recorder;
mod rounded;
mod series;
mod steps;
#[cfg(test)]
pub(crate) mod testing;
mod waits;

pub use recorder::{Recorder, Recording};
