//! Judgement of a client's retries: situations that a server creates, what it then observes, and rules on these observations.
//!
//! An [`Observation`] is either from a real server, which an external program used, or from a strategy in virtual time. All rules are the
//! same for both.

mod advice;
mod cause;
mod judged;
mod observation;
mod recorded;
mod report;
mod rule;
mod rules;
mod simulated;
mod suite;
mod words;

pub use advice::Advice;
pub use cause::Cause;
pub use judged::{JudgedSituation, Verdict};
pub use observation::{
    Attempt, Body, End, IdempotencyKey, MAX_ATTEMPTS, Observation, ObservedRun, OperationType, OtherCall,
    Reply,
};
pub use recorded::{Closeness, Comparison, recording};
pub use report::{Allowed, Report, report};
pub use rule::{Evidence, Finding, Rule, Severity};
pub use rules::RULES;
pub use simulated::{expected, simulate};
pub use suite::{Situation, Success, Suite, SuiteError};
