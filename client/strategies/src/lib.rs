//! Retry and throttling strategies for clients of overloaded or rate-limited servers.
//!
//! A [`Strategy`] decides for a client when to send each attempt of an operation (*op*), whether to retry a failed op,
//! and after which delay. It combines parts of four kinds:
//!
//! - [`Limiter`]s decide when the next attempt may start: congestion windows, rates, pacers.
//! - A [`RetryPolicy`] decides whether a failed op is retried and after which delay: backoff with jitter.
//! - [`Budget`]s decide whether an attempt is admitted at all: retry budgets, quotas, circuit breakers.
//! - A [`Hedger`] decides when to send copies of an attempt that has not been answered yet.
//!
//! An attempt is sent only if every limiter and every budget admits it. All limiters and budgets later observe the
//! outcome of the attempt. After a failure, each budget may forbid a retry, and the retry policy sets the delay. A
//! server's advice, such as `Retry-After`, can override that delay. Without a retry policy, a failed op is ready again
//! at once, and the limiters decide when its retry is sent.
//!
//! Strategies are written as text: `+` joins parts, and `over` puts one layer of retries around another.
//! [`StrategySpec`] parses that text, and [`STRATEGIES`] lists all parts by name. [`presets()`] lists strategies of
//! production clients.
//!
//! The crate is sans-IO: it opens no sockets and reads no clock. Time and seeds are arguments, so a strategy behaves
//! the same over a network and in a simulation.
//!
//! # Example
//!
//! A client with a congestion window and jittered backoff. The driver passes the time and the outcomes of its attempts.
//!
//! ```
//! use std::time::Duration;
//! use tailback::{
//!     Advice, AttemptEnd, Candidate, Classification, FailedOp, Instant, LaunchDecision, LimiterView, Outcome, Retry,
//!     RetryState, Status, StrategySpec,
//! };
//!
//! let spec: StrategySpec = "aimd+full-jitter:max-attempts=3".parse()?;
//! let mut strategy = spec.build(42, None)?;
//!
//! // An op arrives. May its first attempt start?
//! let (now, mut state) = (Instant::ORIGIN, RetryState::default());
//! let candidate = Candidate {
//!     seq: 0,
//!     op: 0,
//!     attempt: 1,
//!     arrived: now,
//!     last: None,
//!     last_classification: Classification::Done,
//!     copy: 0,
//! };
//! let view = LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate };
//! let LaunchDecision::Send(permits, _) = strategy.admit(now, &view, &mut state) else {
//!     panic!("the window has room for one attempt");
//! };
//!
//! // After 20 ms the server rejects it, with the header `Retry-After: 2`.
//! let now = now + Duration::from_millis(20);
//! let mut outcome = Outcome::advised(Status::Rejected, Advice::After(Duration::from_secs(2)));
//! outcome.classification = strategy.classify(&outcome);
//! let ended = AttemptEnd {
//!     seq: 0,
//!     op: 0,
//!     attempt: 1,
//!     sent_at: Instant::ORIGIN,
//!     in_flight_when_sent: 1,
//!     in_flight: 1,
//!     ready: 0,
//!     round_continues: false,
//! };
//! strategy.on_ended(now, &ended, &outcome, &permits, &mut state);
//! let failed = FailedOp { op: 0, arrived: Instant::ORIGIN, failures: 1, outcome };
//! let Retry::After(delay) = strategy.on_failure(now, &failed, 1, &mut state) else {
//!     panic!("two attempts are left");
//! };
//! assert!(delay >= Duration::from_secs(2));
//! # Ok::<(), tailback::SpecError>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(missing_docs)]

mod advice;
mod attempt;
mod backoffs;
mod budget;
mod budgets;
mod classification;
mod common;
mod delay;
mod dispatcher;
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
mod outage_backoff;
mod part;
mod part_config;
mod presets;
mod reason;
mod registry;
mod response_parser;
mod retry;
mod retry_on;
mod rules;
mod shape;
mod spec;
mod status;
mod strategy;
#[cfg(test)]
mod testing;

#[doc(hidden)]
pub use advice::CustomResponses;
pub use advice::{Advice, AdviceForms, AdviceHeaders, AdviceRule, AdviceValue, Advised, Quota, RetryAfter};
pub use attempt::{AttemptEnd, Candidate, Outcome};
pub use budget::{Budget, BudgetDecision, Permit};
pub use classification::Classification;
pub use dispatcher::{
    Attempt, AttemptKey, Backoff, Dispatcher, Due, EndedAttempt, Full, GiveUp, Host, Launch, Op, OpKey,
    Output, Settings,
};
pub use entry::Entry;
pub use error::SpecError;
pub use facts::{Facts, Grpc, Hints, Missing};
pub use gauges::{GaugeKind, Gauges, MAX_DRAWN};
pub use hedger::{AfterFailure, Copies, Hedger, MAX_COPIES};
#[doc(hidden)]
pub use limiter::CarrierSense;
pub use limiter::{Admit, Limiter, LimiterView, Until};
#[doc(hidden)]
pub use limiters::{ETHERNET, ORACLE};
pub use method::Method;
pub use part::{Part, PartKind};
pub use part_config::Context;
pub use presets::{
    Golden, Knob, KnobValue, Preset, PresetError, PresetParameter, Rule, preset, preset_names, presets,
    systems,
};
pub use reason::{contains_words, error_code};
pub use registry::{STRATEGIES, find};
pub use response_parser::{ParsedResponse, ResponseParser};
pub use retry::{FailedOp, Retry, RetryPolicy, RetryState};
pub use rules::Rules;
pub use shape::Shaped;
pub use spec::StrategySpec;
pub use status::{Failure, Status};
pub use strategy::{AfterCopy, LaunchDecision, Permits, Strategy};
#[doc(hidden)]
pub use vocabulary::OracleSchedule;
pub use vocabulary::{Instant, ParameterError, ParameterInfo, Rng, WallTime};
