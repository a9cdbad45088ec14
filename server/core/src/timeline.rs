//! Scheduled items, ordered by the instant at which they are due, and then by the order in which they were scheduled.
//!
//! An item is added to a queue if no item of the queue is due later. With constant delays, this is always the case. All other items are
//! added to a heap.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use vocabulary::Instant;

#[derive(Debug)]
pub(crate) struct Timeline<T> {
    in_order: VecDeque<Entry<T>>,
    out_of_order: BinaryHeap<Reverse<Entry<T>>>,
    /// Key of the item that is due first; [`NEVER`] if nothing is scheduled. The key is cached, because it is read far more often than
    /// items are due.
    next: Key,
}

/// Instant at which an item is due, and a number that breaks ties.
pub(crate) type Key = (Instant, u64);

pub(crate) const NEVER: Key = (Instant::FAR_FUTURE, u64::MAX);

/// Latest instant at which items can be due. It is just before [`Instant::FAR_FUTURE`], because `FAR_FUTURE` means that nothing is due.
/// Items scheduled for `FAR_FUTURE` are due at this instant instead.
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
    /// Schedules an item. `order` must be larger than the order of every item scheduled before.
    #[inline]
    pub(crate) fn push(&mut self, at: Instant, order: u64, item: T) {
        let at = at.min(LATEST);
        let entry = Entry { key: (at, order), item };
        // It is enough to compare the instants of the new item and of the last item. At equal instants, the new item belongs after the last
        // item, because its `order` is larger.
        if self.in_order.back().is_none_or(|last| last.key.0 <= at) {
            self.in_order.push_back(entry);
        } else {
            self.put_before(entry);
        }
        // An earlier item with the same instant stays first, because its `order` is smaller than that of the new item.
        if at < self.next.0 {
            self.next = (at, order);
        }
    }

    #[inline(never)]
    fn put_before(&mut self, entry: Entry<T>) {
        self.out_of_order.push(Reverse(entry));
    }

    pub(crate) fn peek(&self) -> Option<(Key, &T)> {
        let entry = match (self.in_order.front(), self.out_of_order.peek()) {
            (Some(queued), Some(Reverse(heaped))) => queued.min(heaped),
            (Some(queued), None) => queued,
            (None, Some(Reverse(heaped))) => heaped,
            (None, None) => return None,
        };
        Some((entry.key, &entry.item))
    }

    #[inline]
    pub(crate) fn next(&self) -> Key {
        self.next
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Key, T)> {
        if !self.out_of_order.is_empty() {
            return self.pop_either();
        }
        let Entry { key, item } = self.in_order.pop_front()?;
        self.next = self.in_order.front().map_or(NEVER, |entry| entry.key);
        Some((key, item))
    }

    /// Slow path of `pop`, for timelines with items in the heap.
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

    fn first(&self) -> Key {
        self.peek().map_or(NEVER, |(key, _)| key)
    }

    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.out_of_order.len()
    }

    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for entry in &mut self.in_order {
            change(&mut entry.item);
        }
        // The entries of a heap cannot be changed in place, so the heap is converted to a vector and back. The order of the entries does
        // not change, because it depends only on their keys.
        let mut heaped = std::mem::take(&mut self.out_of_order).into_vec();
        for Reverse(entry) in &mut heaped {
            change(&mut entry.item);
        }
        self.out_of_order = heaped.into();
    }

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

// A heap compares entries with `<`, `<=`, `>` and `>=`. Each comparison is true about half of the time. Comparing a single number per entry
// avoids branches, which would often be mispredicted.
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
    /// Returns the key of an entry as one number. Numbers are ordered in the same way as keys.
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
