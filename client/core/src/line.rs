//! A first come, first served queue that is mostly empty or holds one: that one needs no memory besides.

use std::collections::VecDeque;

use crate::queue::Queue;

/// See the module.
#[derive(Debug)]
pub(crate) struct Line<T> {
    first: Option<T>,
    /// Empty when there is no first.
    others: VecDeque<T>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { first: None, others: VecDeque::new() }
    }
}

impl<T: Copy> Line<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        self.first.iter().chain(&self.others).copied()
    }
}

impl<T: Copy> Queue for Line<T> {
    type Item = T;

    #[inline]
    fn first(&self) -> Option<T> {
        self.first
    }

    #[inline]
    fn take_first(&mut self) -> Option<T> {
        let first = self.first.take();
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        }
        first
    }

    #[inline]
    fn add(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.others.push_back(item);
        }
    }

    #[inline]
    fn count(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    fn keep(&mut self, mut wanted: impl FnMut(T) -> bool) {
        let first = self.first.take().filter(|item| wanted(*item));
        self.others.retain(|item| wanted(*item));
        self.first = first.or_else(|| self.others.pop_front());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_first_goes_first_and_one_alone_takes_no_memory_besides() {
        let mut line = Line::default();
        for item in 0..3 {
            line.add(item);
            assert_eq!((line.take_first(), line.count(), line.others.capacity()), (Some(item), 0, 0));
        }
        (0..4).for_each(|item| line.add(item));
        assert_eq!((line.first(), line.take_first(), line.count()), (Some(0), Some(0), 3));
        line.add(4);
        line.keep(|item| item % 2 == 0);
        assert_eq!(line.iter().collect::<Vec<_>>(), [2, 4]);
        assert_eq!([line.take_first(), line.take_first(), line.take_first()], [Some(2), Some(4), None]);
    }
}
