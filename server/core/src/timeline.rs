//! What is scheduled, in order of time and then of scheduling: a queue as long as things are scheduled in the order in
//! which they are due, which constant times always are, and a heap for the rest.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use vocabulary::Instant;

/// Items by the instant and the order of their scheduling.
#[derive(Debug)]
pub(crate) struct Timeline<T> {
    in_order: VecDeque<Entry<T>>,
    out_of_order: BinaryHeap<Reverse<Entry<T>>>,
    /// What is due first; [`NEVER`] if nothing is scheduled. Asked far more often than anything is due.
    next: Key,
}

/// When something is due; the number breaks ties.
pub(crate) type Key = (Instant, u64);

/// When nothing is due.
pub(crate) const NEVER: Key = (Instant::FAR_FUTURE, u64::MAX);

/// What is due at the end of time is due just before, when nothing is due no more.
const LATEST: Instant = Instant::from_nanos(u64::MAX - 1);

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: Key,
    item: T,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self { in_order: VecDeque::new(), out_of_order: BinaryHeap::new(), next: NEVER }
    }
}

impl<T> Timeline<T> {
    /// Schedules an item; `order` is larger than that of everything scheduled before.
    #[inline]
    pub(crate) fn push(&mut self, at: Instant, order: u64, item: T) {
        let at = at.min(LATEST);
        let entry = Entry { key: (at, order), item };
        // The order is larger, so that the instant decides.
        if self.in_order.back().is_none_or(|last| last.key.0 <= at) {
            self.in_order.push_back(entry);
        } else {
            self.put_before(entry);
        }
        // The order is larger than that of all others.
        if at < self.next.0 {
            self.next = (at, order);
        }
    }

    #[inline(never)]
    fn put_before(&mut self, entry: Entry<T>) {
        self.out_of_order.push(Reverse(entry));
    }

    /// What is due first.
    pub(crate) fn peek(&self) -> Option<(Key, &T)> {
        let entry = match (self.in_order.front(), self.out_of_order.peek()) {
            (Some(queued), Some(Reverse(heaped))) => queued.min(heaped),
            (Some(queued), None) => queued,
            (None, Some(Reverse(heaped))) => heaped,
            (None, None) => return None,
        };
        Some((entry.key, &entry.item))
    }

    /// When that is; [`NEVER`] if nothing is scheduled.
    #[inline]
    pub(crate) fn next(&self) -> Key {
        self.next
    }

    /// Takes what is due first.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Key, T)> {
        if !self.out_of_order.is_empty() {
            return self.pop_either();
        }
        let Entry { key, item } = self.in_order.pop_front()?;
        self.next = self.in_order.front().map_or(NEVER, |entry| entry.key);
        Some((key, item))
    }

    /// The same where not everything is in order.
    #[inline(never)]
    fn pop_either(&mut self) -> Option<(Key, T)> {
        let entry = match self.out_of_order.peek() {
            Some(Reverse(heaped)) if heaped.key == self.next => {
                self.out_of_order.pop().map(|heaped| heaped.0)
            }
            _ => self.in_order.pop_front(),
        };
        self.next = self.first();
        entry.map(|entry| (entry.key, entry.item))
    }

    /// The key of what is due first.
    fn first(&self) -> Key {
        self.peek().map_or(NEVER, |(key, _)| key)
    }

    /// How many are scheduled.
    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.out_of_order.len()
    }

    /// Changes items where they are.
    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for entry in &mut self.in_order {
            change(&mut entry.item);
        }
        // Their order is that of their keys, which stay.
        let mut heaped = std::mem::take(&mut self.out_of_order).into_vec();
        for Reverse(entry) in &mut heaped {
            change(&mut entry.item);
        }
        self.out_of_order = heaped.into();
    }

    /// Drops what nobody waits for any more.
    pub(crate) fn retain(&mut self, wanted: impl Fn(Key, &T) -> bool) {
        self.in_order.retain(|entry| wanted(entry.key, &entry.item));
        self.out_of_order.retain(|Reverse(entry)| wanted(entry.key, &entry.item));
        self.next = self.first();
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Entry<T> {}

// Heaps compare by these, and mostly both ways are as likely: as one number there is nothing to branch on.
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.number() < other.number()
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.number() <= other.number()
    }

    #[inline]
    fn gt(&self, other: &Self) -> bool {
        self.number() > other.number()
    }

    #[inline]
    fn ge(&self, other: &Self) -> bool {
        self.number() >= other.number()
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> Entry<T> {
    /// The key as one number of the same order.
    #[inline]
    fn number(&self) -> u128 {
        u128::from(self.key.0.as_nanos()) << 64 | u128::from(self.key.1)
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
            for (order, at) in times.iter().enumerate() {
                timeline.push(Instant::from_nanos(*at), order as u64, order);
            }
            prop_assert_eq!(timeline.len(), times.len());
            let mut wanted: Vec<usize> = (0..times.len()).collect();
            wanted.sort_by_key(|order| times[*order]);
            let mut came = Vec::new();
            while let Some((key, item)) = timeline.peek() {
                let item = *item;
                prop_assert_eq!(timeline.pop(), Some((key, item)));
                came.push(item);
            }
            prop_assert_eq!(came, wanted);
        }
    }
}
