//! Strategy instance with its queue of ready ops. There is one instance per client, or a single instance that all
//! clients share.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use super::op::Waiting;
use crate::{Candidate, Instant, LimiterView, Strategy};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InstanceId(pub u32);

impl Index<InstanceId> for Vec<Instance> {
    type Output = Instance;

    #[inline]
    fn index(&self, id: InstanceId) -> &Instance {
        &self[id.0 as usize]
    }
}

impl IndexMut<InstanceId> for Vec<Instance> {
    #[inline]
    fn index_mut(&mut self, id: InstanceId) -> &mut Instance {
        &mut self[id.0 as usize]
    }
}

pub(super) struct Instance {
    pub in_flight: u32,
    /// Number of attempts that this strategy instance has sent. It is also the sequence number of the next attempt.
    pub next_seq: u64,
    pub sleeping: u64,
    pub strategy: Strategy,
    pub ready: VecDeque<Waiting>,
    /// Ready ops for which an outer layer of the strategy has already begun a try. They are sent before the ops in
    /// `ready`, because they occupy capacity for which other ops wait.
    pub resumed: VecDeque<Waiting>,
    /// Instant of the next poll of this strategy instance. Polls that are scheduled for other instants are outdated and
    /// ignored.
    pub armed: Option<Instant>,
}

impl Instance {
    pub(super) fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            ready: VecDeque::new(),
            resumed: VecDeque::new(),
            sleeping: 0,
            in_flight: 0,
            next_seq: 0,
            armed: None,
        }
    }

    #[inline]
    pub(super) fn view(&self, candidate: Candidate) -> LimiterView {
        let ready = self.ready_ops();
        LimiterView { in_flight: self.in_flight, ready, sleeping: self.sleeping, candidate }
    }

    #[inline]
    pub(super) fn ready_ops(&self) -> u64 {
        (self.ready.len() + self.resumed.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run may have a million instances.
    #[test]
    fn an_instance_fits_in_320_bytes() {
        assert!(size_of::<Instance>() <= 320, "{}", size_of::<Instance>());
    }
}
