//! Observations for the tests of rules, made from a script and the delays of a client.

use std::time::Duration;

use mockserver_core::Script;
use vocabulary::{Instant, WallTime};

use crate::observation::{Attempt, End, IdempotencyKey, Observation, ObservedRun, OperationType};
use crate::rule::{Case, Outcome, Rule};
use crate::simulated::expected;

/// Properties of an observation that most tests do not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub(super) method: &'a str,
    /// Idempotency key of each attempt; none if empty.
    pub(super) keys: &'a [&'a str],
    pub(super) end: End,
    pub(super) operation: Option<OperationType>,
    pub(super) waits_for_advice: bool,
    /// Script and delays of the control.
    pub(super) control: Option<(&'a str, &'a [f64])>,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            method: "GET",
            keys: &[],
            end: End::Exited,
            operation: None,
            waits_for_advice: true,
            control: None,
        }
    }
}

pub(super) fn no_retry() -> Outcome {
    Outcome::NoEvidence("no retry observed".to_owned())
}

pub(super) fn outcome(rule: &Rule, script: &str, delays: &[f64], setup: &Setup<'_>) -> Outcome {
    outcome_of_runs(rule, script, &[delays], setup)
}

pub(super) fn outcome_of_runs(rule: &Rule, script: &str, delays: &[&[f64]], setup: &Setup<'_>) -> Outcome {
    let observed = observation(script, delays, setup);
    let control = setup.control.map(|(script, delays)| observation(script, &[delays], setup));
    let case = Case {
        observation: &observed,
        controls: control.iter().map(|control| ("429, then 200", control)).collect(),
        operation: setup.operation,
        idle: Duration::from_secs(6),
        waits_for_advice: setup.waits_for_advice,
    };
    (rule.check)(&case)
}

pub(crate) fn observation(script: &str, delays: &[&[f64]], setup: &Setup<'_>) -> Observation {
    let runs = delays.iter().map(|delays| run(&script.replace('+', "%2B"), delays, setup));
    Observation { runs: runs.collect(), has_keys: true }
}

fn run(script: &str, delays: &[f64], setup: &Setup<'_>) -> ObservedRun {
    let script: Script = script.parse().expect("a script");
    let mut at = Duration::ZERO;
    let mut attempts = Vec::new();
    for index in 0..=delays.len() {
        if index > 0 {
            at += Duration::from_secs_f64(delays[index - 1]);
        }
        let ordinal = u32::try_from(index + 1).expect("few attempts");
        let key = setup.keys.get(index);
        attempts.push(Attempt {
            method: setup.method.to_owned(),
            target: "/v1/things".to_owned(),
            at,
            ended: Some(at),
            // All answers are sent at whole seconds, so that dates are exact.
            reply: expected(&script, ordinal, WallTime::VIRTUAL_START.at(Instant::ORIGIN)),
            keys: key
                .map(|key| IdempotencyKey { name: "idempotency-key".to_owned(), value: (*key).to_owned() })
                .into_iter()
                .collect(),
            body_digest: 7,
            ..Attempt::default()
        });
    }
    ObservedRun { received: attempts.len() as u64, attempts, end: setup.end, ..ObservedRun::default() }
}
