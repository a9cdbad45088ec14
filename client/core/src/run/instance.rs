//! A strategy instance with its queue: one per client, or one for all that share.

use std::collections::VecDeque;

use tailback::Strategy;
use vocabulary::Instant;

use super::drawn::Drawn;
use crate::cancellable::Cancellable;
use crate::op::Waiting;

/// Names a strategy instance, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InstanceId(pub(super) u32);

impl InstanceId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One strategy instance with its queue.
pub(super) struct Instance {
    pub(super) in_flight: u32,
    /// Attempts sent by this instance: the next one's number.
    pub(super) next_seq: u64,
    pub(super) sleeping: u64,
    pub(super) strategy: Strategy,
    /// Ops that may be sent, first come first served.
    pub(super) ready: Cancellable<VecDeque<Waiting>>,
    /// Those of them that are in the middle of a try of an outer layer: they go first, as they hold what others wait for.
    pub(super) resumed: Option<Box<Cancellable<VecDeque<Waiting>>>>,
    /// Of its instants in the agenda to be polled at, the one that still counts.
    pub(super) armed: Option<Instant>,
    pub(super) window: Option<f64>,
    pub(super) ssthresh: Option<f64>,
    /// What else was last drawn.
    pub(super) drawn: Drawn,
}

impl Instance {
    pub(super) fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            ready: Cancellable::default(),
            resumed: None,
            sleeping: 0,
            in_flight: 0,
            next_seq: 0,
            armed: None,
            window: None,
            ssthresh: None,
            drawn: Drawn::default(),
        }
    }

    /// How many ops may be sent.
    pub(super) fn ready_ops(&self) -> u64 {
        (self.ready.len() + self.resumed.as_ref().map_or(0, |resumed| resumed.len())) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_stays_small_because_there_may_be_a_million_of_them() {
        assert!(size_of::<Instance>() <= 400, "{}", size_of::<Instance>());
    }
}
