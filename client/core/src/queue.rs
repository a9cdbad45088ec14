//! What queues have in common, in whatever order they are.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Things in an order of their own.
pub(crate) trait Queue {
    /// One of them.
    type Item: Copy;

    /// The one that comes first.
    fn first(&self) -> Option<Self::Item>;
    /// Takes it out.
    fn take_first(&mut self) -> Option<Self::Item>;
    /// Puts one where it belongs.
    fn add(&mut self, item: Self::Item);
    /// How many there are.
    fn count(&self) -> usize;
    /// Drops the others, and keeps the order.
    fn keep(&mut self, wanted: impl FnMut(Self::Item) -> bool);
}

/// First come, first served: for what is due in the order in which it is put in.
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

/// The least first.
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
