//! Facts from which the answer to one request is rendered: its outcome, its time, the status of the limits.

use std::time::Duration;

use vocabulary::{Instant, WallTime};

use crate::{HeaderWriter, LimitStatus};

#[derive(Clone, Copy, Debug)]
pub struct ResponseContext<'a> {
    pub outcome: Outcome,
    pub now: Instant,
    /// Instant at which the server accepted or rejected the request. The reset times in `limit_statuses` are counted from this instant.
    pub decided_at: Instant,
    pub limit_statuses: &'a [Option<LimitStatus>],
    pub seed: u64,
    pub op: u64,
    pub attempt: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Accepted,
    Rejected {
        /// Index, from 0, of the stage that rejected the request. `None` if no stage rejected it, for example because the server was down.
        stage: Option<usize>,
        /// Exact wait after which the rejected request would be accepted if it were repeated and no other request arrived in the meantime.
        /// `None` if unknown.
        wait: Option<Duration>,
    },
    Conflict,
}

impl Outcome {
    pub(super) fn stage(self) -> Option<usize> {
        match self {
            Self::Rejected { stage, .. } => stage,
            _ => None,
        }
    }

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

#[derive(Clone, Copy, Debug)]
pub(super) struct RenderContext<'a> {
    pub(super) context: &'a ResponseContext<'a>,
    pub(super) teller: &'a HeaderWriter,
    pub(super) stages: &'a [Box<str>],
}

impl<'a> RenderContext<'a> {
    pub(super) fn limit_status(&self, stage: usize) -> Option<&'a LimitStatus> {
        self.context.limit_statuses.get(stage)?.as_ref()
    }

    pub(super) fn speaker(&self) -> usize {
        self.context.outcome.stage().unwrap_or(0)
    }

    pub(super) fn reason(&self) -> Option<&'a str> {
        self.stages.get(self.context.outcome.stage()?).map(|name| &**name)
    }

    pub(super) fn moment(&self, after: Duration) -> WallTime {
        self.teller.wall(self.context.now + after)
    }

    pub(super) fn reset_at(&self, limit_status: &LimitStatus) -> Instant {
        self.context.decided_at + limit_status.reset
    }

    /// Returns the time from the answer until the limit resets; 0 if the limit has already been reset.
    pub(super) fn until_reset(&self, limit_status: &LimitStatus) -> Duration {
        self.reset_at(limit_status).since(self.context.now)
    }
}
