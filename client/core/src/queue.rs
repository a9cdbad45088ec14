//! Common interface of a first-in, first-out queue and of a priority queue.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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
