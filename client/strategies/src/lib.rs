//! Retry and throttling strategies for clients of throttled servers. Sans-IO: `now` and randomness are arguments.
//!
//! A [`Strategy`] is composed of up to four kinds of parts: [`Limiter`]s say *when* the next attempt may start,
//! one [`RetryPolicy`] says *whether and when* a failed op may try again, [`Budget`]s say whether a launch is
//! let through at all, and one [`Hedger`] says when copies of an attempt that is under way are sent. `+` in a [`StrategySpec`] puts parts together; [`STRATEGIES`] lists every part by name.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod advice;
mod attempt;
mod backoffs;
mod budget;
mod budgets;
mod common;
mod delay;
mod entry;
mod error;
mod facts;
mod formula;
mod gauges;
mod hedger;
mod hedgers;
mod hint_rule;
mod limiter;
mod limiters;
mod method;
mod opinion;
mod part;
mod part_config;
mod presets;
mod reading;
mod reason;
mod registry;
mod retry;
mod retry_on;
mod rules;
mod shape;
mod spec;
mod standstill;
mod status;
mod strategy;
#[cfg(test)]
mod testing;

pub use advice::{
    Advice, AdviceForms, AdviceHeaders, AdviceRule, AdviceValue, Advised, OwnWords, RetryAfter,
};
pub use attempt::{Ended, Launch, Outcome};
pub use budget::{Budget, Gate, Permit};
pub use entry::Entry;
pub use error::SpecError;
pub use facts::{Facts, Grpc, Hints, Missing};
pub use gauges::{GaugeKind, Gauges, MOST_DRAWN};
pub use hedger::{AfterFailure, Copies, Hedger, MOST_COPIES};
pub use limiter::{Admit, Carrier, Limiter, Until, View};
pub use limiters::ORACLE;
pub use method::Method;
pub use opinion::Opinion;
pub use part::{Part, PartKind};
pub use part_config::Context;
pub use presets::{
    Golden, GoldenDelay, Preset, PresetError, PresetParameter, Rule, preset, preset_names, presets, systems,
};
pub use reading::{Heard, Reading};
pub use reason::{MOST_BODY, gives_reason};
pub use registry::{STRATEGIES, find};
pub use retry::{FailedOp, Retry, RetryPolicy, RetryState};
pub use rules::Rules;
pub use shape::Shaped;
pub use spec::StrategySpec;
pub use status::{Failure, Status};
pub use strategy::{AfterCopy, Permits, Strategy, Verdict};
pub use vocabulary::Instant;
pub use vocabulary::{OracleSchedule, ParameterError, ParameterInfo};
