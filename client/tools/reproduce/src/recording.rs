//! Recorders of single runs, for the plots that a scenario requests. The amount of recorded data is limited, even for long runs. Excess
//! data is thinned, and the plot states how the data was thinned.
mod recorder;
mod rounded;
mod series;
mod steps;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use recorder::{Recorder, Recording};
