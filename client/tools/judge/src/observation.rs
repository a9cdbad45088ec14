//! Observations of a client in one situation: the requests of the judged call with their times and answers, run by run.

use std::time::Duration;

use serde::Serialize;

use crate::advice::Advice;

/// Number of attempts after which a run is ended, because the client may never give up.
pub(crate) const MAX_ATTEMPTS: usize = 50;

/// Observation of all runs of one situation. Only controls have several runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    pub runs: Vec<ObservedRun>,
    /// Whether the idempotency keys of requests were observed. False for strategies, which have none, although the client that they represent
    /// may send them.
    pub has_keys: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ObservedRun {
    /// Attempts of the judged call in the order of their arrival, at most [`MAX_ATTEMPTS`].
    pub attempts: Vec<Attempt>,
    /// Number of attempts of the judged call, including those that were not kept.
    pub received: u64,
    /// Calls that are not judged, such as the fetching of a token.
    pub others: Vec<OtherCall>,
    pub end: End,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OtherCallRecord"))]
pub struct OtherCall {
    pub method: String,
    /// Path and query, without the values of the query.
    pub target: String,
    pub requests: u64,
}

/// Request of the judged call. Times are counted from the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    pub method: String,
    pub target: String,
    pub at: Duration,
    /// Instant of the answer, or of the client's disconnection if there was no answer. `None` if the request was still open at the end of
    /// the run.
    pub ended: Option<Duration>,
    pub reply: Reply,
    /// Idempotency keys in the order of their names.
    pub keys: Vec<IdempotencyKey>,
    /// Whether the request has `If-Match` or `If-None-Match`, which protect a write from being executed twice.
    pub is_conditional: bool,
    pub body: Body,
    /// Whether the client sent another call since the attempt before.
    pub is_after_other: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub name: String,
    pub value: String,
}

/// Digest of a request's body, equal for equal bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Body(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Status {
        code: u16,
        advice: Option<Advice>,
    },
    /// The client received no complete answer. `executed` is true if the server had done the work of the request.
    Broken {
        executed: bool,
    },
    /// The client ended the request before an answer, or the request was open at the end of the run.
    Open,
}

/// End of a run of the command or strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The command exited. The code is `None` if a signal ended it.
    Exited(Option<i32>),
    /// The run was ended, because no further request arrived within the idle timeout.
    Idle,
    /// The run was ended after [`MAX_ATTEMPTS`] attempts.
    TooMany,
    /// The op was ended by the test that sent it, or by the end of the session (`--serve`).
    Session,
    /// The run was ended by the user.
    Interrupted,
}

/// Kind of the operation under test. Writes must not be executed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationType {
    Read,
    Write,
}

impl Reply {
    pub fn is_success(self) -> bool {
        matches!(self, Self::Status { code: 200..=299, .. })
    }

    pub(super) fn advice(self) -> Option<Advice> {
        match self {
            Self::Status { code: 300.., advice } => advice,
            _ => None,
        }
    }

    pub(super) fn code(self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(code),
            _ => None,
        }
    }
}

impl Attempt {
    pub(super) fn is_executed(&self) -> bool {
        self.reply.is_success() || matches!(self.reply, Reply::Broken { executed: true })
    }

    /// Whether the request may be sent again without harm: it has an idempotency key or a condition.
    pub(super) fn is_protected(&self) -> bool {
        !self.keys.is_empty() || self.is_conditional
    }

    /// Returns the kind of operation by the method: POST and PATCH are writes.
    pub fn operation_type(&self) -> OperationType {
        match self.method.as_str() {
            "POST" | "PATCH" => OperationType::Write,
            _ => OperationType::Read,
        }
    }
}

/// A retry: an attempt and the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retry<'a> {
    pub(super) before: &'a Attempt,
    pub(super) attempt: &'a Attempt,
    /// Index of the retry's attempt within its run, from 1.
    pub(super) index: usize,
}

impl Retry<'_> {
    /// Whether both attempts are the same request, with nothing in between, so that the later one repeats the earlier one.
    pub(super) fn is_repetition(&self) -> bool {
        self.attempt.body == self.before.body && !self.attempt.is_after_other
    }

    /// Returns the time from the end of the attempt before to the start of this retry.
    pub(super) fn delay(&self) -> Duration {
        self.attempt.at.saturating_sub(self.before.ended.unwrap_or(self.before.at))
    }
}

/// Tolerance for a retry that arrives before the server has noticed that the client left the request before.
const LATE_DISCONNECTION: Duration = Duration::from_millis(100);

impl ObservedRun {
    pub(super) fn retries(&self) -> impl Iterator<Item = Retry<'_>> {
        let pairs = self.attempts.windows(2).enumerate();
        pairs.map(|(index, pair)| Retry { before: &pair[0], attempt: &pair[1], index: index + 1 })
    }

    /// Whether two requests of the judged call were in flight at the same time, as with hedging or parallel workers.
    pub fn overlaps(&self) -> bool {
        self.retries().any(|Retry { before, attempt, .. }| match (before.ended, before.reply) {
            (Some(ended), Reply::Open) => attempt.at + LATE_DISCONNECTION < ended,
            (Some(ended), _) => attempt.at < ended,
            (None, _) => true,
        })
    }

    pub(super) fn has_succeeded(&self) -> bool {
        self.attempts.last().is_some_and(|last| last.reply.is_success())
    }

    /// Whether the command ended by itself, so that no further retry would have followed.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.end, End::Exited(_) | End::Session)
    }
}

impl Observation {
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| run.attempts.is_empty())
    }

    pub(super) fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.runs.iter().flat_map(|run| &run.attempts)
    }

    pub(super) fn has_retry(&self) -> bool {
        self.runs.iter().any(|run| run.attempts.len() > 1)
    }

    pub(super) fn is_advised(&self) -> bool {
        self.attempts().any(|attempt| attempt.reply.advice().is_some())
    }

    /// Returns the delays of the retry with this index, one per run that has such a retry. The first retry has index 1.
    pub(super) fn delays_of(&self, index: usize) -> Vec<Duration> {
        self.runs.iter().filter_map(|run| run.retries().nth(index - 1)).map(|retry| retry.delay()).collect()
    }
}
