//! Lines that `--samples` writes.

use loadgen_core::{Cause, ErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback::{Failure, Status};

/// One line of --samples: an attempt. Times are in seconds of the experiment since the run began. The fields stand in the order
/// of the alphabet, as lines have their keys.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(
    rename = "Sample",
    description = "One line of --samples: an attempt. Times are in seconds of the experiment since the run began."
)]
#[serde(expecting = "an object")]
pub struct SampleLine {
    /// When its op arrived.
    pub arrived_s: f64,
    /// Which attempt of its op, from 1.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// Whether somebody between client and mockserver answered.
    #[serde(default)]
    pub by_gateway: bool,
    /// From 0.
    pub client: u32,
    /// When it was to be sent.
    pub due_s: f64,
    /// When it ended.
    pub ended_s: f64,
    /// Why no answer came that could be used; else null.
    pub kind: Option<ErrorKind>,
    /// From 0.
    pub op: u64,
    /// How it ended.
    pub outcome: OutcomeName,
    /// Which run.
    pub seed: u64,
    /// When it was sent.
    pub sent_s: f64,
    /// Attempts of the run in the order of sending.
    pub serial: u64,
    /// The HTTP status; null when no answer came that could be used.
    pub status: Option<u16>,
    /// The strategy's window then; null when it has none.
    pub window: Option<f64>,
}

/// How an attempt ended, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeName {
    Succeeded,
    Rejected,
    #[serde(rename = "timed out")]
    TimedOut,
    #[serde(rename = "no answer")]
    NoAnswer,
    #[serde(rename = "server error")]
    ServerError,
    #[serde(rename = "refused for good")]
    RefusedForGood,
    Shed,
    Deferred,
    Withdrawn,
}

impl SampleLine {
    pub fn new(seed: u64, sample: &loadgen_core::Sample) -> Self {
        let (status, kind) = match sample.cause {
            Some(Cause::Status(status)) => (Some(status), None),
            Some(Cause::Error(kind)) => (None, Some(kind)),
            None => (None, None),
        };
        Self {
            arrived_s: sample.arrived.as_secs_f64(),
            attempt: sample.attempt,
            by_gateway: sample.by_gateway,
            client: sample.client,
            due_s: sample.due.as_secs_f64(),
            ended_s: sample.ended.as_secs_f64(),
            kind,
            op: sample.op,
            outcome: sample.status.into(),
            seed,
            sent_s: sample.sent.as_secs_f64(),
            serial: sample.serial,
            status,
            window: sample.window,
        }
    }
}

impl From<Status> for OutcomeName {
    fn from(status: Status) -> Self {
        match status {
            Status::Succeeded => Self::Succeeded,
            Status::Rejected => Self::Rejected,
            Status::Failed(Failure::Timeout) => Self::TimedOut,
            Status::Failed(Failure::Transport) => Self::NoAnswer,
            Status::Failed(Failure::Server) => Self::ServerError,
            Status::Failed(Failure::Fatal) => Self::RefusedForGood,
            Status::Shed => Self::Shed,
            Status::Deferred => Self::Deferred,
            Status::Cancelled => Self::Withdrawn,
        }
    }
}
