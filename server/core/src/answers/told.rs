//! What is known of one answer when it is put into words.

use std::time::Duration;

use vocabulary::{Instant, WallTime};

use super::teller::Teller;
use crate::standing::Standing;

/// One answer, as the core knows it.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What became of the request.
    pub outcome: Outcome,
    /// When it is answered.
    pub now: Instant,
    /// Instant of the decision; resets of `standings` count from it.
    pub decided_at: Instant,
    /// Where each stage of the stack stands, in its order; `None` for those that have no limit to speak of.
    pub standings: &'a [Option<Standing>],
    /// The seed that keys the draws of its request.
    pub seed: u64,
    /// The op.
    pub op: u64,
    /// Which attempt of the op.
    pub attempt: u32,
}

/// What became of a request, as far as answers differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was served.
    Accepted,
    /// It was turned away.
    Rejected {
        /// The stage that did it, from 0; `None` where no stage did: the server was down, say.
        stage: Option<usize>,
        /// Exactly how long to wait for the same request to be accepted, if nothing else comes; `None` where nobody knows.
        wait: Option<Duration>,
    },
    /// A conditional write came too late.
    Conflict,
}

impl Outcome {
    /// The stage that rejected.
    pub(super) fn stage(self) -> Option<usize> {
        match self {
            Self::Rejected { stage, .. } => stage,
            _ => None,
        }
    }

    /// How long to wait after a rejection.
    pub(super) fn wait(self) -> Option<Duration> {
        match self {
            Self::Rejected { wait, .. } => wait,
            _ => None,
        }
    }

    pub(super) fn is_rejected(self) -> bool {
        matches!(self, Self::Rejected { .. })
    }
}

/// One answer, to whom it is told, and the names of the stages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling<'a> {
    pub(super) told: &'a Told<'a>,
    pub(super) teller: &'a Teller,
    pub(super) stages: &'a [Box<str>],
}

impl<'a> Telling<'a> {
    /// Where this stage stands.
    pub(super) fn standing(&self, stage: usize) -> Option<&'a Standing> {
        self.told.standings.get(stage)?.as_ref()
    }

    /// The stage that speaks: the one that rejected, otherwise the first.
    pub(super) fn speaker(&self) -> usize {
        self.told.outcome.stage().unwrap_or(0)
    }

    /// The name of the stage that rejected.
    pub(super) fn reason(&self) -> Option<&'a str> {
        self.stages.get(self.told.outcome.stage()?).map(|name| &**name)
    }

    /// Returns the calendar, this much after the answer.
    pub(super) fn moment(&self, after: Duration) -> WallTime {
        self.teller.wall(self.told.now + after)
    }

    /// Returns the instant at which a stage that stood so is reset.
    pub(super) fn reset_at(&self, standing: &Standing) -> Instant {
        self.told.decided_at + standing.reset
    }

    /// Returns the time from the answer to that reset; 0 if it has passed.
    pub(super) fn until_reset(&self, standing: &Standing) -> Duration {
        self.reset_at(standing).since(self.told.now)
    }
}
