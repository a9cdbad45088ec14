//! Scheduled events, ordered by the instant at which they are due, and then by a number.
//!
//! An event takes 16 bytes. It is put into a queue if its place is near the end of the queue. With constant or nearly constant delays,
//! this is always the case. All other events are put into a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use vocabulary::Instant;

/// Maximum number of events of the queue behind which a new event belongs.
const NEAR: usize = 16;

#[derive(Debug)]
pub(crate) struct Timeline {
    in_order: VecDeque<Event>,
    out_of_order: BinaryHeap<Reverse<Event>>,
    /// Event that is due first; [`Event::NEVER`] if nothing is scheduled. It is cached, because it is read far more often than events are
    /// due.
    first: Event,
}

/// Scheduled event as one number: the instant at which it is due, a number that orders simultaneous events, and the item that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event(u128);

/// Latest instant at which events can be due. It is just before [`Instant::FAR_FUTURE`], because `FAR_FUTURE` means that nothing is due.
/// Events scheduled for `FAR_FUTURE` are due at this instant instead.
const LATEST: Instant = Instant::from_nanos(u64::MAX - 1);

#[expect(clippy::cast_possible_truncation, reason = "each part of the number is cut out of it")]
impl Event {
    pub(crate) const NEVER: Self = Self(u128::MAX);

    #[inline]
    pub(crate) fn new(at: Instant, order: u32, item: u32) -> Self {
        Self(u128::from(at.min(LATEST).as_nanos()) << 64 | u128::from(order) << 32 | u128::from(item))
    }

    #[inline]
    pub(crate) fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    #[inline]
    pub(crate) fn order(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn item(self) -> u32 {
        self.0 as u32
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { in_order: VecDeque::new(), out_of_order: BinaryHeap::new(), first: Event::NEVER }
    }
}

impl Timeline {
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        if self.in_order.back().is_none_or(|last| *last < event) {
            self.in_order.push_back(event);
        } else {
            self.put_before(event);
        }
        self.first = self.first.min(event);
    }

    #[inline(never)]
    fn put_before(&mut self, event: Event) {
        let Self { in_order, out_of_order, .. } = self;
        if in_order.iter().nth_back(NEAR).is_some_and(|other| event < *other) {
            return out_of_order.push(Reverse(event));
        }
        let mut place = in_order.len();
        in_order.push_back(event);
        while place > 0 && event < in_order[place - 1] {
            in_order.swap(place, place - 1);
            place -= 1;
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Event {
        self.first
    }

    /// Removes the first event, if there is one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if !self.out_of_order.is_empty() {
            return self.pop_either();
        }
        self.in_order.pop_front();
        self.first = self.in_order.front().copied().unwrap_or(Event::NEVER);
    }

    /// Slow path of `pop`, for timelines with events in the heap.
    #[inline(never)]
    fn pop_either(&mut self) {
        if self.in_order.front() == Some(&self.first) {
            self.in_order.pop_front();
        } else {
            self.out_of_order.pop();
        }
        self.look();
    }

    fn look(&mut self) {
        let heaped = self.out_of_order.peek().map(|Reverse(event)| event);
        self.first = self.in_order.front().into_iter().chain(heaped).min().copied().unwrap_or(Event::NEVER);
    }

    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.out_of_order.len()
    }

    pub(crate) fn retain(&mut self, wanted: impl Fn(Event) -> bool) {
        self.in_order.retain(|event| wanted(*event));
        self.out_of_order.retain(|Reverse(event)| wanted(*event));
        self.look();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn items_come_by_time_and_then_in_the_order_of_scheduling(times in prop::collection::vec(0..20_u64, 0..60)) {
            let mut timeline = Timeline::default();
            let events = (0_u32..).zip(&times).map(|(order, at)| Event::new(Instant::from_nanos(*at), order, order));
            let mut events: Vec<Event> = events.collect();
            for event in &events {
                timeline.push(*event);
            }
            prop_assert_eq!(timeline.len(), times.len());
            events.sort_unstable();
            for event in events {
                prop_assert_eq!((timeline.first(), event.order()), (event, event.item()));
                timeline.pop();
            }
            prop_assert_eq!(timeline.first(), Event::NEVER);
        }
    }
}
