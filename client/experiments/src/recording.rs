//! What is kept of single runs for the plots that a scenario asks for. Everything is bounded, however long a run is: what
//! does not fit is thinned, and the plot says how.

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
