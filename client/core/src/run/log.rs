//! Inputs and decisions of a run in order, sufficient to replay the run in another driver.

use vocabulary::Instant;

use super::exchange::{Input, Output};
use crate::measure::GivenUp;
use crate::sample::Sample;

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
