//! Observations of a client in one situation: the requests of the judged call with their times and answers, run by run.

use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::advice::Advice;

/// Number of attempts after which a run is ended, because the client may never give up.
pub(crate) const MAX_ATTEMPTS: usize = 50;

// Observation of all runs of one situation. Only controls have several runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observation {
    pub runs: Vec<ObservedRun>,
    /// Whether the idempotency keys of requests were observed. False for strategies, which have none, although the client that they represent
    /// may send them.
    #[serde(skip)]
    pub has_keys: bool,
}

/// Run of the client in a situation. Times are in seconds since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "JudgedRun"))]
pub struct ObservedRun {
    /// Number of attempts of the judged call. `attempts` lists at most 50 of them.
    pub received: u64,
    // In the order of their arrival, at most `MAX_ATTEMPTS`.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<JudgedAttempt>"))]
    pub attempts: Vec<Attempt>,
    /// Calls that are not judged, such as the fetching of a token; at most 100.
    pub others: Vec<OtherCall>,
    pub end: End,
    /// Exit code of the command; null if it did not exit by itself.
    pub exit_code: Option<i32>,
    /// Time at which the command exited; null if it did not exit by itself.
    pub exited_s: Option<f64>,
    /// Variable `TZ` of the command, if the situation sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Time at which the command exited or was ended.
    #[serde(skip)]
    pub ended: Duration,
    /// Whether the idle timeout began at the advised time.
    #[serde(skip)]
    pub waited_for_advice: bool,
    /// Whether the answers advised a longer wait than in the other runs.
    #[serde(skip)]
    pub has_longer_advice: bool,
    /// Whether the client began a TLS handshake, to which the server does not answer.
    #[serde(skip)]
    pub tls_seen: bool,
    /// Line of stderr that explains the end of the command best. It reaches no file, because it may contain secrets.
    #[serde(skip)]
    pub last_error: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OtherCallRecord"))]
pub struct OtherCall {
    pub method: String,
    /// Path and query, without the values of the query.
    pub target: String,
    pub requests: u64,
    /// Protocol that is not judged, such as a websocket; null for other requests of HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'static str>,
}

/// Request of the judged call. Times are counted from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(into = "JudgedAttempt")]
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
    /// Digest of the body, equal for equal bodies and for multipart bodies that differ in their boundary.
    pub body_digest: u64,
    pub body: SentBody,
    /// Digest of the headers with credentials.
    pub credential_digest: u64,
    /// Whether the client sent another call since the attempt before.
    pub is_after_other: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct JudgedAttempt {
    pub method: String,
    /// Path and query, without the values of the query.
    pub target: String,
    pub at_s: f64,
    /// Time of the answer, or of the client's disconnection; null if the request was open at the end of the run.
    pub ended_s: Option<f64>,
    /// Status of the answer; null if the client received no complete answer.
    pub status: Option<u16>,
    /// Whether the server did the work of the request.
    pub executed: bool,
    /// Wait that the answer advised; null if it advised none.
    pub advised_s: Option<f64>,
    pub keys: Vec<String>,
    /// Number of bytes of the request body that arrived.
    pub body_bytes: u64,
}

impl From<Attempt> for JudgedAttempt {
    fn from(attempt: Attempt) -> Self {
        let (status, advice) = match attempt.reply {
            Reply::Status { code, advice } => (Some(code), advice),
            Reply::Broken { .. } | Reply::Open => (None, None),
        };
        Self {
            at_s: seconds(attempt.at),
            ended_s: attempt.ended.map(seconds),
            status,
            executed: attempt.is_executed(),
            advised_s: advice.and_then(Advice::wait).map(seconds),
            keys: attempt.keys.into_iter().map(|key| key.name).collect(),
            body_bytes: attempt.body.bytes,
            method: attempt.method,
            target: attempt.target,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBody {
    pub bytes: u64,
    /// Number of bytes that `Content-Length` promised, if fewer arrived.
    pub promised: Option<u64>,
    /// Whether the body was sent in chunks, so that the client may not be able to send it again.
    pub is_chunked: bool,
    pub change: BodyChange,
}

/// Difference of a body from the one of the first attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyChange {
    #[default]
    Same,
    /// The body is a beginning or an end of the first one, or empty.
    Part,
    Other,
}

/// Converts a time to seconds, rounded to microseconds, because the times of a real server are not more exact.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    #[default]
    Open,
}

// End of a run of the command or strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RunEnd"))]
#[serde(rename_all = "snake_case")]
pub enum End {
    #[default]
    Exited,
    /// Ended by `loadgen judge` after the idle timeout.
    Idle,
    /// Ended by `loadgen judge` after 50 attempts.
    TooManyAttempts,
    /// Ended by the test that sent the op, or by the end of the session (`--serve`).
    Session,
    Interrupted,
}

/// Kind of the operation under test. Writes must not be executed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperationType {
    /// The operation may be executed twice without harm.
    Read,
    /// The operation must not be executed twice.
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
    /// Returns the number of the retry's attempt within its run, counted from 1.
    pub(super) fn number(&self) -> usize {
        self.index + 1
    }

    /// Whether both attempts are the same request with the same credential, with nothing in between, so that the later one repeats the
    /// earlier one.
    pub(super) fn is_repetition(&self) -> bool {
        let (before, attempt) = (self.before, self.attempt);
        attempt.body_digest == before.body_digest
            && attempt.credential_digest == before.credential_digest
            && !attempt.is_after_other
    }

    /// Returns the time from the end of the attempt before to the start of this retry.
    pub(super) fn delay(&self) -> Duration {
        self.attempt.at.saturating_sub(self.before.ended.unwrap_or(self.before.at))
    }
}

/// Tolerance for a retry that arrives before the server has noticed that the client left the request before.
const LATE_DISCONNECTION: Duration = Duration::from_millis(100);

impl ObservedRun {
    /// Returns the retries of the op. Requests after a success belong to other ops.
    pub(super) fn retries(&self) -> impl Iterator<Item = Retry<'_>> {
        self.pairs().take_while(|pair| !pair.before.reply.is_success())
    }

    /// Returns all attempts but the first one, each with the one before it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Retry<'_>> {
        let pairs = self.attempts.windows(2).enumerate();
        pairs.map(|(index, pair)| Retry { before: &pair[0], attempt: &pair[1], index: index + 1 })
    }

    /// Whether two requests of the judged call were in flight at the same time, as with hedging or parallel workers.
    pub fn overlaps(&self) -> bool {
        self.pairs().any(|Retry { before, attempt, .. }| match (before.ended, before.reply) {
            (Some(ended), Reply::Open) => attempt.at + LATE_DISCONNECTION < ended,
            (Some(ended), _) => attempt.at < ended,
            (None, _) => true,
        })
    }

    pub(super) fn has_succeeded(&self) -> bool {
        self.attempts.last().is_some_and(|last| last.reply.is_success())
    }

    /// Whether the run was ended, possibly while the client waited as advised.
    pub(super) fn is_waiting(&self) -> bool {
        self.end == End::Idle && !self.waited_for_advice
    }

    /// Whether the command ended by itself, so that no further retry would have followed.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.end, End::Exited | End::Session)
    }
}

impl Observation {
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| run.attempts.is_empty())
    }

    pub(super) fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.runs.iter().flat_map(|run| &run.attempts)
    }

    pub(super) fn retries(&self) -> impl Iterator<Item = Retry<'_>> {
        self.runs.iter().flat_map(ObservedRun::retries)
    }

    /// Returns the status of the first answer.
    pub(super) fn code(&self) -> Option<u16> {
        self.attempts().next()?.reply.code()
    }

    pub(super) fn has_retry(&self) -> bool {
        self.retries().next().is_some()
    }

    pub(super) fn is_advised(&self) -> bool {
        self.attempts().any(|attempt| attempt.reply.advice().is_some())
    }

    /// Returns the delays of each retry, as long as at least `min_runs` runs have one with its index.
    pub(super) fn delays(&self, min_runs: usize) -> impl Iterator<Item = Vec<Duration>> {
        (1..MAX_ATTEMPTS)
            .map(|index| self.delays_of(index))
            .take_while(move |delays| delays.len() >= min_runs)
    }

    /// Returns the delays of the retry with this index, one per run that has such a retry. The first retry has index 1.
    pub(super) fn delays_of(&self, index: usize) -> Vec<Duration> {
        self.runs.iter().filter_map(|run| run.retries().nth(index - 1)).map(|retry| retry.delay()).collect()
    }
}
