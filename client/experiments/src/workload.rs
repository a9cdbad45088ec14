//! Workloads. A single table describes their parameters for command lines, scenario files and sweeps.
//!
//! A [`WorkloadSpec`] contains the parameters as the user gave them. Each entry of [`PARAMETERS`] fills one of its fields.
//! [`WorkloadSpec::run_config`] checks that the parameters fit together, fills in defaults, and returns the configuration of a run.

mod file;
mod parameter;
mod spec;
mod table;
#[cfg(test)]
pub(crate) mod testing;

pub use file::{from_table, is_key};
pub use parameter::{AllowedIn, Kind, Parameter, Word};
pub use spec::{Arrivals, DEFAULT_RATE, MAX_BURST, Spelling, WorkloadError, WorkloadSpec};
pub use table::{PARAMETERS, recorded_as_typed};
