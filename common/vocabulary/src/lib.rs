//! Types shared by `loadgen` and `mockserver`. This crate uses no clock, no global randomness and no sockets.
//!
//! Apart from these types, the client side and the server side do not depend on each other. [`Instant`] is the time that every state
//! machine receives as an argument, and [`draws`] is the only source of randomness. [`Distribution`] is the notation and the generator of
//! random durations.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod chance;
mod choice;
mod configurable;
mod distribution;
pub mod duration_text;
pub mod grpc;
mod instant;
mod nesting;
mod oracle_schedule;
mod parameter;
mod parameters;
mod printable;
mod rate;
mod sine;
mod suggestion;

pub use chance::{Draws, Purpose, draws, unit};
pub use choice::{Choice, ChoiceField};
pub use configurable::{Configurable, Options, OptionsError, split_options, split_options_of};
pub use distribution::{Distribution, DistributionError};
pub use instant::{Instant, TimeScale, WallTime, nanos, whole_nanos};
pub use nesting::split_outside;
pub use oracle_schedule::OracleSchedule;
pub use parameter::{DAY, Parameter, ParameterError, ParameterInfo, TextField};
pub use parameters::kebab;
pub use printable::{beginning, excerpt, printable, thousands};
pub use rand_core::Rng;
pub use rate::{Rate, RateUnit, split_rate};
pub use sine::sine_of_turn;
pub use suggestion::{did_you_mean, nearest};
