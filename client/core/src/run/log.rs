//! What a run was told and what it decided, in order: enough to play it again in another driver.

use vocabulary::Instant;

use super::exchange::{Input, Output};
use crate::measure::GivenUp;
use crate::sample::Sample;

/// The log of a run; see [`Run::record_log`](super::Run::record_log).
///
/// When the driver polled is not in it: every timer fires at its own instant, whenever that is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLog {
    /// What the driver told the run, and for which instant.
    pub inputs: Vec<(Instant, Input)>,
    /// What the run wanted done: attempts to send, each with the instant at which it was due, and attempts to withdraw.
    pub outputs: Vec<Output>,
    /// Every attempt as it ended, with the window just after that.
    pub samples: Vec<Sample>,
    /// Every launch that came to nothing, and every op that was given up, in order.
    pub refusals: Vec<Refusal>,
}

/// A decision about an op that sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A budget refused to launch it.
    Shed {
        /// The op's number, from 0.
        op: u64,
        /// When.
        at: Instant,
    },
    /// It is over without success.
    GivenUp {
        /// The op's number, from 0.
        op: u64,
        /// When.
        at: Instant,
        /// What its last try came to.
        why: GivenUp,
    },
}

impl RunLog {
    /// Out of the way of runs that keep none.
    #[cold]
    pub(super) fn on_input(&mut self, at: Instant, input: &Input) {
        self.inputs.push((at, *input));
    }

    /// The same of what is to be done.
    #[cold]
    pub(super) fn on_output(&mut self, output: &Output) {
        self.outputs.push(*output);
    }
}
