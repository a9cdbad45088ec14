//! Records of a run: each ended attempt, and the inputs and decisions in order, sufficient to replay the run in another driver.

use tailback::Status;
use vocabulary::Instant;

use super::{Input, Output};
use crate::cause::Cause;
use crate::measure::GivenUp;

/// Log of a run: its inputs, outputs, ended attempts and refusals. It is filled after
/// [`Run::record_log`](super::Run::record_log).
///
/// The log does not contain the driver's polls, because every timer fires at its own instant, however late a poll is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLog {
    pub inputs: Vec<(Instant, Input)>,
    /// Outputs of the run: attempts to be sent, with the instants at which they were due, and withdrawals of attempts.
    pub outputs: Vec<Output>,
    pub samples: Vec<Sample>,
    pub refusals: Vec<Refusal>,
}

/// Decision to send nothing for an op. Ops are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Shed { op: u64, at: Instant },
    GivenUp { op: u64, at: Instant, why: GivenUp },
}

impl RunLog {
    /// Records an input of the run. The function is marked as cold (rarely called), so that it does not slow down runs
    /// without a log.
    #[cold]
    pub(super) fn on_input(&mut self, at: Instant, input: &Input) {
        self.inputs.push((at, *input));
    }

    #[cold]
    pub(super) fn on_output(&mut self, output: &Output) {
        self.outputs.push(*output);
    }
}

/// Record of one ended attempt, for exports that list every attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Number of the attempt's op within the run, from 0.
    pub op: u64,
    /// Ordinal of the attempt within its op, from 1.
    pub attempt: u32,
    /// Number of the client that sent the attempt, from 0.
    pub client: u32,
    /// Number of the attempt within the run, from 0, in the order of sending. No number occurs twice. Over
    /// HTTP, numbers of deferred attempts may be missing.
    pub serial: u64,
    pub arrived: Instant,
    pub due: Instant,
    pub sent: Instant,
    /// False if the attempt was withdrawn while it waited for a connection. `sent` is then the instant at which it was due.
    pub is_sent: bool,
    pub ended: Instant,
    pub status: Status,
    pub cause: Option<Cause>,
    pub by_gateway: bool,
    /// Window of the strategy just after the end of the attempt; `None` if the strategy has no window.
    pub window: Option<f64>,
}

/// Callback for every ended attempt. It is called on the hot path, so it must not block.
pub type SampleSink = Box<dyn FnMut(&Sample) + Send>;
