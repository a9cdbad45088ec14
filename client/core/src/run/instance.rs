//! Strategy instance with its queue of ready ops. There is one instance per client, or a single instance that all
//! clients share.

use std::collections::VecDeque;

use tailback::Strategy;
use vocabulary::Instant;

use super::drawn::Drawn;
use crate::cancellable::LazyCancelQueue;
use crate::op::Waiting;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InstanceId(pub(super) u32);

impl InstanceId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

pub(super) struct Instance {
    pub(super) in_flight: u32,
    /// Number of attempts that this strategy instance has sent. It is also the sequence number of the next attempt.
    pub(super) next_seq: u64,
    pub(super) sleeping: u64,
    pub(super) strategy: Strategy,
    pub(super) ready: LazyCancelQueue<VecDeque<Waiting>>,
    /// Ready ops for which an outer layer of the strategy has already begun a try. They are sent before the ops in
    /// `ready`, because they occupy capacity for which other ops wait.
    pub(super) resumed: Option<Box<LazyCancelQueue<VecDeque<Waiting>>>>,
    /// Instant of the next poll of this strategy instance. Polls that are scheduled for other instants are outdated and
    /// ignored.
    pub(super) armed: Option<Instant>,
    pub(super) window: Option<f64>,
    pub(super) ssthresh: Option<f64>,
    pub(super) drawn: Drawn,
}

impl Instance {
    pub(super) fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            ready: LazyCancelQueue::default(),
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

    pub(super) fn ready_ops(&self) -> u64 {
        (self.ready.len() + self.resumed.as_ref().map_or(0, |resumed| resumed.len())) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run may have a million instances.
    #[test]
    fn an_instance_fits_in_400_bytes() {
        assert!(size_of::<Instance>() <= 400, "{}", size_of::<Instance>());
    }
}
