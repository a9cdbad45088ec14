//! Ops that sleep until their back-off is over: 16 bytes each, in a heap.

use std::cmp::Reverse;

use dary_heap::QuaternaryHeap;
use vocabulary::Instant;

use crate::op::OpSlot;

/// Sleeping ops by the instant at which they wake, and then in the order in which they went to sleep.
///
/// Instant, order and op are packed into one number: comparing them is most of what a simulation does, and a heap with
/// four children per node keeps all children in one line of the cache.
#[derive(Debug, Default)]
pub(crate) struct Sleepers {
    heap: QuaternaryHeap<Reverse<u128>>,
    /// Wraps around after four thousand million sleeps, which can matter only for ties.
    order: u32,
}

impl Sleepers {
    /// An op goes to sleep.
    pub(crate) fn push(&mut self, until: Instant, op: OpSlot) {
        let key = u128::from(until.as_nanos()) << 64 | u128::from(self.order) << 32 | u128::from(op.0);
        self.order = self.order.wrapping_add(1);
        self.heap.push(Reverse(key));
    }

    /// When the next one wakes.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(key)| woken_at(*key))
    }

    /// The next one wakes.
    pub(crate) fn pop(&mut self) -> Option<OpSlot> {
        #[expect(clippy::cast_possible_truncation, reason = "the op is in the lowest 32 bits")]
        self.heap.pop().map(|Reverse(key)| OpSlot(key as u32))
    }
}

fn woken_at(key: u128) -> Instant {
    Instant::from_nanos((key >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_wake_by_instant_and_then_in_the_order_of_going_to_sleep() {
        let mut sleepers = Sleepers::default();
        for (until, op) in [(5, 7), (3, 9), (5, 1), (u64::MAX, 2), (3, 8)] {
            sleepers.push(Instant::from_nanos(until), OpSlot(op));
        }
        assert_eq!(sleepers.next(), Some(Instant::from_nanos(3)));
        let woken: Vec<u32> = std::iter::from_fn(|| sleepers.pop()).map(|op| op.0).collect();
        assert_eq!(woken, [9, 8, 7, 1, 2]);
    }
}
