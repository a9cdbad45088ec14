//! Ops that sleep until their backoff is over. Each takes 16 bytes, in a queue that hardly ever compares two ops.
//!
//! A heap of 20 000 sleeping ops makes some thirty comparisons for each op that wakes, and the processor mispredicts
//! half of these branches. A radix heap avoids most comparisons, because instants are numbers and time only advances.
//! The method is that of Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem", Journal
//! of the ACM 37, 1990.
//!
//! A radix heap puts an op that sleeps for long into a bucket, without comparing the op with others. The bucket is
//! chosen by the highest digit in which the op's instant differs from a base. The base follows the clock.
//!
//! The bucket whose ops wake next is sorted if it is small. If it is large, its ops are spread over the buckets of
//! lower digits. Ops wake in exactly the same order as with a heap.

use std::collections::VecDeque;

use super::op::OpSlot;
use crate::Instant;

/// Number of bits in one digit of an instant. The queue of sleeping ops treats an instant as a number that consists of
/// digits.
const DIGIT: u32 = 4;

const RADIX: usize = 1 << DIGIT;

const LEVELS: usize = (u64::BITS / DIGIT) as usize;

/// Maximum number of sleeping ops in a bucket that is sorted. The ops of a larger bucket are first spread over other
/// buckets.
const SORTED_AT_ONCE: usize = 48;

/// Maximum length of `near` after an insertion that is not at its end. If `near` is longer, its later half is moved to
/// `far`.
const INSERTED_AT_MOST: usize = 128;

/// Capacity, in sleeping ops, above which a bucket frees its memory when it becomes empty.
const KEPT: usize = 4096;

/// Sleeping ops, ordered by the instant at which they wake. Ops that wake at the same instant are in the order in which
/// they went to sleep.
///
/// Each entry packs the instant, the order of going to sleep, and the op into one number.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// Sleeping ops that wake before `near_until`, in the order of waking. The list is empty only if `far` is empty,
    /// too.
    near: VecDeque<u128>,
    near_until: u64,
    /// Buckets of all sleeping ops that are not in `near`. A bucket's level is the highest digit in which the instants
    /// of its ops differ from `base`. Each level has one bucket per value of that digit. A level is allocated when it
    /// is first needed.
    far: Vec<Vec<u128>>,
    /// For each level, the set of its buckets that are not empty, with one bit per bucket.
    occupied: [u16; LEVELS],
    /// Lower bound, in nanoseconds, on the instants at which the ops in `far` wake.
    base: u64,
    /// Counter of the ops that went to sleep. The counter wraps around after 2^32 ops, which can only affect the order
    /// of ops that wake at the same instant.
    order: u32,
}

impl Wakes {
    #[inline]
    pub(super) fn push(&mut self, until: Instant, op: OpSlot) {
        let at = until.as_nanos();
        let key = u128::from(at) << 64 | u128::from(self.order) << 32 | u128::from(op.0);
        self.order = self.order.wrapping_add(1);
        if at >= self.near_until && !self.near.is_empty() {
            return self.put_far(key);
        }
        self.put_near(key);
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Instant> {
        self.near.front().map(|key| Instant::from_nanos(instant(*key)))
    }

    /// Removes the op that wakes next. `touch` reads the state of an op that wakes soon. So the states of many ops come into the
    /// processor's cache at once, and not one by one.
    #[inline]
    pub(super) fn pop(&mut self, touch: impl Fn(OpSlot)) -> Option<OpSlot> {
        let key = self.near.pop_front()?;
        if self.near.is_empty() {
            self.refill();
            self.near.iter().for_each(|key| touch(op(*key)));
        }
        Some(op(key))
    }

    /// Removes all sleeping ops for which `keep` returns false.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(OpSlot) -> bool) {
        self.near.retain(|key| keep(op(*key)));
        for (bucket, place) in self.far.iter_mut().zip(0_usize..) {
            if !bucket.is_empty() {
                bucket.retain(|key| keep(op(*key)));
                if bucket.is_empty() {
                    self.occupied[place / RADIX] &= !(1 << (place % RADIX));
                }
            }
        }
        if self.near.is_empty() {
            self.refill();
        }
    }

    fn put_near(&mut self, key: u128) {
        let at = instant(key);
        if self.near.is_empty() {
            (self.base, self.near_until) = (at, at.saturating_add(1));
        }
        if self.near.back().is_none_or(|last| *last < key) {
            self.near.push_back(key);
            return;
        }
        self.near.insert(self.near.partition_point(|other| *other < key), key);
        if self.near.len() > INSERTED_AT_MOST {
            self.shorten();
        }
    }

    /// Moves the later half of the list `near` to the buckets `far`. Ops that wake at the same instant stay together.
    #[cold]
    fn shorten(&mut self) {
        let (first, middle) = (instant(self.near[0]), instant(self.near[self.near.len() / 2]));
        // Ops that wake before `base` must stay in `near`. They must not move to `far`, because `base` is a lower bound
        // on the instants in `far` and never decreases.
        let until = middle.max(self.base.saturating_add(1)).max(first.saturating_add(1));
        let kept = self.near.partition_point(|key| instant(*key) < until);
        if kept > 0 {
            self.near_until = until;
            for key in self.near.split_off(kept) {
                self.put_far(key);
            }
        }
    }

    #[inline]
    fn put_far(&mut self, key: u128) {
        let at = instant(key);
        let level = ((at ^ self.base) | 1).ilog2() / DIGIT;
        let digit = digit_of(at, level);
        let bucket = level as usize * RADIX + digit;
        if self.far.len() <= bucket {
            self.far.resize_with(bucket + 1, Vec::new);
        }
        self.far[bucket].push(key);
        self.occupied[level as usize] |= 1 << digit;
    }

    fn refill(&mut self) {
        while let Some((level, digits)) = (0_u32..).zip(&mut self.occupied).find(|(_, digits)| **digits != 0)
        {
            let digit = digits.trailing_zeros();
            *digits &= *digits - 1;
            // The new base has the higher digits of the old base, then the digit of this bucket, then zeros.
            let shift = level * DIGIT;
            let place = level as usize * RADIX + digit as usize;
            let above = self.base.checked_shr(shift + DIGIT).unwrap_or(0);
            let above = above.checked_shl(shift + DIGIT).unwrap_or(0);
            self.base = above | u64::from(digit) << shift;
            let mut bucket = std::mem::take(&mut self.far[place]);
            if bucket.len() <= SORTED_AT_ONCE || level == 0 {
                bucket.sort_unstable();
                self.near_until = self.base.saturating_add(1 << shift);
                self.near.extend(bucket.drain(..));
            } else {
                for key in bucket.drain(..) {
                    self.put_far(key);
                }
            }
            if bucket.capacity() <= KEPT {
                self.far[place] = bucket;
            }
            if !self.near.is_empty() {
                return;
            }
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is one digit")]
fn digit_of(at: u64, level: u32) -> usize {
    (at >> (level * DIGIT)) as usize % RADIX
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lowest 32 bits contain the op")]
fn op(key: u128) -> OpSlot {
    OpSlot(key as u32)
}

#[inline]
fn instant(key: u128) -> u64 {
    (key >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ops_wake_by_instant_and_then_in_the_order_of_going_to_sleep() {
        let mut sleepers = Wakes::default();
        for (until, op) in [(5, 7), (3, 9), (5, 1), (u64::MAX, 2), (3, 8)] {
            sleepers.push(Instant::from_nanos(until), OpSlot(op));
        }
        assert_eq!(sleepers.next(), Some(Instant::from_nanos(3)));
        let woken: Vec<u32> = std::iter::from_fn(|| sleepers.pop(|_| ())).map(|op| op.0).collect();
        assert_eq!(woken, [9, 8, 7, 1, 2]);
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// Delay in nanoseconds after the last wake; a negative one is out of order.
        Sleep(i64),
        /// Absolute instant in nanoseconds.
        SleepUntil(u64),
        Wake,
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let delay = (0..40_u32, any::<u32>())
            .prop_map(|(bits, number)| Event::Sleep(i64::from(number) & ((1 << bits) - 1)));
        let event = prop_oneof![
            6 => delay,
            3 => (0..3_i64).prop_map(|steps| Event::Sleep(steps * 1_000_000)),
            1 => (-2000..2_i64).prop_map(Event::Sleep),
            1 => prop_oneof![any::<u64>(), Just(u64::MAX), Just(u64::MAX - 1)].prop_map(Event::SleepUntil),
            6 => Just(Event::Wake),
        ];
        prop::collection::vec(event, 1..1500)
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_heap(events in events(), crowd in 0..400_u32) {
            let (mut sleepers, mut heap, mut now) = (Wakes::default(), BinaryHeap::new(), 0_u64);
            let crowd = (0..crowd).map(|number| Event::Sleep(i64::from(number % 7) * 50_000));
            let wakes = std::iter::repeat_n(Event::Wake, events.len() + crowd.len());
            for (order, event) in (0_u32..).zip(crowd.chain(events.iter().copied()).chain(wakes)) {
                let until = match event {
                    Event::Sleep(delay) => now.saturating_add_signed(delay),
                    Event::SleepUntil(until) => until,
                    Event::Wake => {
                        let expected = heap.pop().map(|Reverse((until, op))| {
                            now = until;
                            OpSlot(op)
                        });
                        prop_assert_eq!(sleepers.pop(|_| ()), expected);
                        let next = heap.peek().map(|Reverse((until, _))| Instant::from_nanos(*until));
                        prop_assert_eq!(sleepers.next(), next);
                        continue;
                    }
                };
                sleepers.push(Instant::from_nanos(until), OpSlot(order));
                heap.push(Reverse((until, order)));
            }
            prop_assert!(sleepers.next().is_none());
        }
    }
}
