//! Lines that `--samples` writes, one for each attempt of a run.

use loadgen_core::{Cause, ErrorKind};
use serde::{Deserialize, Serialize};
use tailback::{Failure, Status};

/// One line of --samples: an attempt. Times are in seconds of the experiment since the run began. The fields are in alphabetical order,
/// because a line contains its keys in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(
        rename = "Sample",
        description = "One line of --samples: an attempt. Times are in seconds of the experiment since the run began."
    )
)]
pub struct SampleLine {
    /// Time at which the attempt's op arrived, in seconds of the experiment since the run began.
    pub arrived_s: f64,
    /// Number of the attempt among the attempts of its op, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub attempt: u32,
    /// Whether an intermediary between the client and the mockserver, such as a gateway, answered the attempt.
    #[serde(default)]
    pub by_gateway: bool,
    /// Number of the client that sent the attempt, from 0.
    pub client: u32,
    pub due_s: f64,
    pub ended_s: f64,
    pub kind: Option<ErrorKind>,
    /// Number of the attempt's op, from 0.
    pub op: u64,
    pub outcome: OutcomeName,
    pub seed: u64,
    /// Null if the attempt ended while it waited for a connection, so that it was never sent.
    pub sent_s: Option<f64>,
    /// Number of the attempt within the run, in the order of sending.
    pub serial: u64,
    pub status: Option<u16>,
    /// Window (concurrency limit) of the strategy just after the attempt ended. Null if the strategy has no window.
    pub window: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
            sent_s: sample.is_sent.then(|| sample.sent.as_secs_f64()),
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
