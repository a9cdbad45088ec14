//! Workloads: one table of their parameters for command lines, scenario files and sweeps, and the resulting configuration.
//!
//! A [`WorkloadSpec`] contains parameters as they were given; each of [`PARAMETERS`] fills one of its fields. [`WorkloadSpec::run_config`]
//! checks that the parameters fit together, and fills in defaults.

mod file;
mod lists;
mod parameter;
mod recorded;
mod spec;
mod table;
#[cfg(test)]
pub(crate) mod testing;

pub use file::{FileError, from_table, is_key};
pub use parameter::{AllowedIn, Kind, Parameter, Word};
pub use recorded::recorded_as_typed;
pub use spec::{Arrivals, DEFAULT_RATE, MAX_BURST, Spelling, WorkloadError, WorkloadSpec};
pub use table::PARAMETERS;
