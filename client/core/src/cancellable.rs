//! Queue with lazy cancellation: a cancelled item is dropped only when it reaches the front.
//!
//! Cancelling an item costs nothing, because the item stays in the queue. The caller passes a function that reports
//! whether an item is still valid. Cancelled items can accumulate behind valid ones. If this can happen, the caller
//! also removes them from time to time (a sweep).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Debug, Default)]
pub(crate) struct LazyCancelQueue<Q> {
    queue: Q,
}

impl<Q: Queue> LazyCancelQueue<Q> {
    /// A sweep removes cancelled items only if they outnumber the valid items by more than this. So few items fit into
    /// the nearest processor cache.
    const FEW: usize = 256;

    pub(crate) fn push(&mut self, item: Q::Item) {
        self.queue.add(item);
    }

    /// Returns the first valid item, and drops the cancelled items before it. `alive` returns whether an item is valid.
    /// It is called once for each dropped item.
    pub(crate) fn first(&mut self, mut alive: impl FnMut(Q::Item) -> bool) -> Option<Q::Item> {
        while let Some(item) = self.queue.first() {
            if alive(item) {
                return Some(item);
            }
            self.queue.take_first();
        }
        None
    }

    pub(crate) fn peek(&self) -> Option<Q::Item> {
        self.queue.first()
    }

    pub(crate) fn pop(&mut self) -> Option<Q::Item> {
        self.queue.take_first()
    }

    pub(crate) fn sweep(&mut self, living: usize, alive: impl Fn(Q::Item) -> bool) {
        if self.queue.count() > 2 * living + Self::FEW {
            self.queue.keep(alive);
        }
    }

    /// Returns the number of items in the queue, including cancelled ones.
    pub(crate) fn len(&self) -> usize {
        self.queue.count()
    }
}

impl<T: Copy> LazyCancelQueue<VecDeque<T>> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        self.queue.iter().copied()
    }
}

/// Common interface of a first-in, first-out queue and of a priority queue.
pub(crate) trait Queue {
    type Item: Copy;

    fn first(&self) -> Option<Self::Item>;
    fn take_first(&mut self) -> Option<Self::Item>;
    fn add(&mut self, item: Self::Item);
    fn count(&self) -> usize;
    /// Keeps the items for which `wanted` returns true, in their order. Removes all other items from the queue.
    fn keep(&mut self, wanted: impl FnMut(Self::Item) -> bool);
}

/// First-in, first-out queue, for items that are added in the order in which they are due.
impl<T: Copy> Queue for VecDeque<T> {
    type Item = T;

    fn first(&self) -> Option<T> {
        self.front().copied()
    }

    fn take_first(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn add(&mut self, item: T) {
        self.push_back(item);
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn keep(&mut self, mut wanted: impl FnMut(T) -> bool) {
        self.retain(|item| wanted(*item));
    }
}

impl<T: Copy + Ord> Queue for BinaryHeap<Reverse<T>> {
    type Item = T;

    fn first(&self) -> Option<T> {
        self.peek().map(|Reverse(item)| *item)
    }

    fn take_first(&mut self) -> Option<T> {
        self.pop().map(|Reverse(item)| item)
    }

    fn add(&mut self, item: T) {
        self.push(Reverse(item));
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn keep(&mut self, mut wanted: impl FnMut(T) -> bool) {
        self.retain(|Reverse(item)| wanted(*item));
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;

    #[test]
    fn cancelled_items_at_the_front_are_dropped_and_reported() {
        let mut queue: LazyCancelQueue<VecDeque<u32>> = LazyCancelQueue::default();
        for item in 1..=5 {
            queue.push(item);
        }
        let mut dropped = Vec::new();
        let first = queue.first(|item| {
            if item <= 2 {
                dropped.push(item);
            }
            item > 2
        });
        assert_eq!(first, Some(3));
        assert_eq!((queue.pop(), queue.len(), dropped), (Some(3), 2, vec![1, 2]));
        assert_eq!([queue.pop(), queue.pop()], [Some(4), Some(5)]);
    }

    #[test]
    fn a_heap_gives_the_least_first_whenever_it_came() {
        let mut queue: LazyCancelQueue<BinaryHeap<Reverse<u32>>> = LazyCancelQueue::default();
        for item in [3, 1, 2] {
            queue.push(item);
        }
        assert_eq!(queue.first(|item| item != 1), Some(2));
    }

    #[test]
    fn memory_is_bounded_by_the_living() {
        let mut queue: LazyCancelQueue<VecDeque<u32>> = LazyCancelQueue::default();
        for item in 0..100_000 {
            queue.push(item);
            queue.sweep(1, |other| other == 0 || other == item);
            assert!(queue.len() <= 259, "the first stays alive, so that nothing is dropped at the front");
        }
        assert!(queue.len() > 0);
    }
}
