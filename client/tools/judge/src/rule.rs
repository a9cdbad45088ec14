//! Form of a rule on observations: what it may use, and what it finds.

use std::time::Duration;

use serde::Serialize;

use crate::observation::{Attempt, End, Observation, ObservedRun, OperationType};
use crate::situation::Situation;
use crate::words::{delay, time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FindingSeverity"))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Fail,
    Warn,
}

#[derive(Debug)]
pub struct Rule {
    pub name: &'static str,
    pub severity: Severity,
    pub summary: &'static str,
    /// Public report of a client that breaks the rule, or the standard that the rule is from.
    pub source: &'static str,
    pub(super) check: fn(&Case<'_>) -> Outcome,
}

#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) observation: &'a Observation,
    pub(super) controls: Vec<(&'a str, &'a Observation)>,
    pub(super) situation: &'a Situation,
    pub(super) operation: Option<OperationType>,
    pub(super) idle: Duration,
    /// Number of attempts that the user expects in the situation `forever`.
    pub(super) expected_attempts: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Found {
        text: String,
        evidence: Vec<Evidence>,
    },
    /// Like `Found`, but only a warning, whatever the severity of the rule is.
    Warned {
        text: String,
        evidence: Vec<Evidence>,
    },
    Passed,
    /// The rule cannot be judged. The text names the missing observation.
    NoEvidence(String),
}

/// Attempts of one run. Runs and attempts are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvidenceRecord"))]
pub struct Evidence {
    pub run: usize,
    pub attempts: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FindingRecord"))]
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    pub text: String,
    // Whether the user accepts the finding (`--allow`), so that it does not count.
    pub allowed: bool,
    pub evidence: Vec<Evidence>,
}

impl Outcome {
    pub(super) fn into_warning(self) -> Self {
        match self {
            Self::Found { text, evidence } => Self::Warned { text, evidence },
            other => other,
        }
    }
}

/// Reason of a rule that needs a retry.
pub(super) const NO_RETRY: &str = "no retry observed";

impl Case<'_> {
    /// Returns the controls with the same status, without advice, and with a retry.
    pub(super) fn own_retries(&self) -> impl Iterator<Item = &Observation> {
        let code = self.observation.code();
        let controls = self.controls.iter().map(|(_, control)| *control);
        controls.filter(move |control| control.code() == code && !control.is_advised() && control.has_retry())
    }

    /// Whether the rule finds something.
    pub(super) fn breaks(&self, rule: &Rule) -> bool {
        matches!((rule.check)(self), Outcome::Found { .. } | Outcome::Warned { .. })
    }

    /// Returns all delays of the retry with this index without advice, after the same status.
    pub(super) fn own_delays(&self, index: usize) -> impl Iterator<Item = Duration> {
        self.own_retries().flat_map(move |control| control.delays_of(index))
    }

    pub(super) fn is_write(&self, attempt: &Attempt) -> bool {
        self.operation.unwrap_or_else(|| attempt.operation_type()) == OperationType::Write
    }

    /// Returns the attempts of each run that break a rule by `broken`, which counts them from 1. Runs without such an attempt are left out.
    pub(super) fn evidence<'a, B: IntoIterator<Item = usize>>(
        &'a self,
        mut broken: impl FnMut(&'a ObservedRun) -> B,
    ) -> Vec<Evidence> {
        let runs = (1..).zip(&self.observation.runs);
        runs.map(|(run, observed)| Evidence { run, attempts: broken(observed).into_iter().collect() })
            .filter(|evidence| !evidence.attempts.is_empty())
            .collect()
    }

    /// Like [`evidence`](Self::evidence), for a rule whose text describes the first attempt that breaks it.
    pub(super) fn found<'a, B: IntoIterator<Item = (usize, String)>>(
        &'a self,
        mut broken: impl FnMut(&'a ObservedRun) -> B,
    ) -> Option<Outcome> {
        let mut texts = Vec::new();
        let evidence = self.evidence(|run| {
            let (attempts, words): (Vec<usize>, Vec<String>) = broken(run).into_iter().unzip();
            texts.extend(words);
            attempts
        });
        Some(Outcome::Found { text: texts.into_iter().next()?, evidence })
    }

    /// Returns the outcome of rules about writes without idempotency keys if no write, or no key, can be observed.
    pub(super) fn unknown_writes(&self) -> Option<Outcome> {
        if self.has_write() {
            return self.without_keys();
        }
        if self.operation == Some(OperationType::Read) {
            return Some(Outcome::NoEvidence("the op is a read (--op read)".to_owned()));
        }
        let request = self.observation.attempts().next();
        let only = request.map(|request| format!(", only {} {}", request.method, request.target));
        Some(Outcome::NoEvidence(format!("no write observed{}", only.unwrap_or_default())))
    }

    pub(super) fn without_retry(&self) -> Outcome {
        Outcome::NoEvidence(self.reason_without_retry())
    }

    pub(super) fn reason_without_retry(&self) -> String {
        if self.observation.runs.iter().any(|run| run.end == End::Idle) {
            let idle = time(self.idle);
            return format!("no retry within {idle}, and the client still ran (use a longer --idle-timeout)");
        }
        NO_RETRY.to_owned()
    }

    /// Judges answers that must not be retried. `reason` ends the sentence about the first retry, such as `although the quota is used up`.
    pub(super) fn must_not_retry(&self, reason: &str) -> Outcome {
        let retried = self.found(|run| {
            run.retries()
                .map(|retry| (retry.number(), format!("retried after {}, {reason}", delay(retry.delay()))))
        });
        retried.unwrap_or_else(|| {
            if self.own_retries().next().is_some() { Outcome::Passed } else { self.without_retry() }
        })
    }

    /// Returns the outcome of rules about idempotency keys for clients whose keys are not known.
    pub(super) fn without_keys(&self) -> Option<Outcome> {
        let why = "strategies have no idempotency keys, but the client may send them";
        (!self.observation.has_keys).then(|| Outcome::NoEvidence(why.to_owned()))
    }

    pub(super) fn has_write(&self) -> bool {
        self.observation.attempts().any(|attempt| self.is_write(attempt))
    }
}
