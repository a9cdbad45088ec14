//! Workloads: the one table of their parameters, which command lines, scenario files and sweeps share, and what they come to.
//!
//! A [`WorkloadSpec`] is what was typed or read; each of [`PARAMETERS`] fills one of its fields. [`WorkloadSpec::run_config`]
//! checks that they fit one another and puts defaults in.

mod file;
mod lists;
mod parameter;
mod recorded;
mod spec;
mod table;
#[cfg(test)]
pub(crate) mod testing;

pub use file::{FileError, from_table, is_key};
pub use parameter::{Kind, Parameter, Place, Word};
pub use recorded::recorded_as_typed;
pub use spec::{Arrivals, DEFAULT_RATE, LARGEST_BURST, Spelling, WorkloadError, WorkloadSpec};
pub use table::PARAMETERS;
