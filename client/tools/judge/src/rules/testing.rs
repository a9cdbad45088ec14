//! Observations for the tests of rules, made from a script and the delays of a client.

use std::time::Duration;

use mockserver_core::Script;
use vocabulary::{Instant, WallTime};

use crate::observation::{
    Attempt, End, IdempotencyKey, MAX_ATTEMPTS, Observation, ObservedRun, OperationType, SentBody,
};
use crate::rule::{Case, Outcome, Rule};
use crate::simulated::expected;
use crate::suite::{Suite, SuiteText};

/// Properties of an observation that most tests do not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub(super) method: &'a str,
    /// Idempotency key of each attempt; none if empty.
    pub(super) keys: &'a [&'a str],
    /// Body of each attempt; empty ones if there are none.
    pub(super) bodies: &'a [SentBody],
    pub(super) end: End,
    pub(super) operation: Option<OperationType>,
    pub(super) waits_for_advice: bool,
    /// Script and delays of the control.
    pub(super) control: Option<(&'a str, &'a [f64])>,
    pub(super) control_runs: usize,
    /// Whether the situation is made for the rule.
    pub(super) is_purpose: bool,
    pub(super) max_attempts: usize,
    pub(super) expected_attempts: Option<u64>,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            method: "GET",
            keys: &[],
            bodies: &[],
            end: End::Exited,
            operation: None,
            waits_for_advice: true,
            control: None,
            control_runs: 1,
            is_purpose: true,
            max_attempts: MAX_ATTEMPTS,
            expected_attempts: None,
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
    let control = setup.control.map(|(script, delays)| {
        let still_exits = Setup { end: End::Exited, ..*setup };
        (script, observation(script, &vec![delays; setup.control_runs], &still_exits))
    });
    let suite = suite(rule, setup);
    let case = Case {
        observation: &observed,
        controls: control.iter().map(|(script, control)| (*script, control)).collect(),
        situation: &suite.situations[0],
        operation: setup.operation,
        idle: Duration::from_secs(6),
        expected_attempts: setup.expected_attempts,
    };
    (rule.check)(&case)
}

fn suite(rule: &Rule, setup: &Setup<'_>) -> Suite {
    let rules = if setup.is_purpose { format!("[\"{}\"]", rule.name) } else { "[]".to_owned() };
    let text = format!(
        "[[situation]]\nname = \"a\"\ntitle = \"t\"\nwhy = \"w\"\nsteps = [{{ status = 503 }}]\nrules = {rules}\nmax-attempts = {}",
        setup.max_attempts
    );
    SuiteText::new(text, 3).parse().expect("a suite")
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
            body: setup.bodies.get(index).copied().unwrap_or_default(),
            ..Attempt::default()
        });
    }
    ObservedRun {
        received: attempts.len() as u64,
        attempts,
        end: setup.end,
        waited_for_advice: setup.waits_for_advice,
        ..ObservedRun::default()
    }
}
