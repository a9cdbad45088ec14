//! Counts of attempts and failures while a circuit breaker is closed, over a time window or over the last N attempts.

use std::collections::VecDeque;
use std::time::Duration;

use crate::Instant;

/// Number of equal parts into which the time window is divided. All counts of the oldest part expire together.
const PARTS: u32 = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Health {
    pub(super) attempts: u32,
    pub(super) failures: u32,
}

impl Health {
    pub(super) fn with(self, failed: bool) -> Self {
        Self {
            attempts: self.attempts.saturating_add(1),
            failures: self.failures.saturating_add(u32::from(failed)),
        }
    }

    fn without(self, other: Self) -> Self {
        Self { attempts: self.attempts - other.attempts, failures: self.failures - other.failures }
    }
}

pub(super) struct Calls {
    counted: Counted,
    sum: Health,
}

enum Counted {
    Last {
        ring: Vec<bool>,
        next: usize,
    },
    /// Counts within a time window, kept in parts of a tenth of the window each. A new part starts when an attempt ends
    /// and the current part is over.
    Within {
        parts: VecDeque<(Instant, Health)>,
        window: Duration,
    },
}

impl Calls {
    pub(super) fn new(last: u32, window: Duration) -> Self {
        let counted = match last {
            0 => Counted::Within { parts: VecDeque::new(), window },
            last => Counted::Last { ring: vec![false; last as usize], next: 0 },
        };
        Self { counted, sum: Health::default() }
    }

    pub(super) fn count(&mut self, now: Instant, failed: bool) -> Health {
        match &mut self.counted {
            Counted::Last { ring, next } => {
                let oldest = std::mem::replace(&mut ring[*next], failed);
                if self.sum.attempts as usize == ring.len() {
                    self.sum = self.sum.without(Health::default().with(oldest));
                }
                *next = (*next + 1) % ring.len();
            }
            Counted::Within { parts, window } => {
                if parts.back().is_none_or(|(began, _)| now.since(*began) >= *window / PARTS) {
                    parts.push_back((now, Health::default()));
                }
                while let Some((_, oldest)) = parts.front().filter(|(began, _)| now.since(*began) >= *window)
                {
                    self.sum = self.sum.without(*oldest);
                    parts.pop_front();
                }
                if let Some((_, newest)) = parts.back_mut() {
                    *newest = newest.with(failed);
                }
            }
        }
        self.sum = self.sum.with(failed);
        self.sum
    }

    pub(super) fn clear(&mut self) {
        self.sum = Health::default();
        match &mut self.counted {
            Counted::Last { next, .. } => *next = 0,
            Counted::Within { parts, .. } => parts.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(attempts: u32, failures: u32) -> Health {
        Health { attempts, failures }
    }

    #[test]
    fn only_the_last_so_many_count() {
        let mut calls = Calls::new(3, Duration::ZERO);
        let counted =
            [true, true, false, false, true, false].map(|failed| calls.count(Instant::ORIGIN, failed));
        assert_eq!(
            counted,
            [health(1, 1), health(2, 2), health(3, 2), health(3, 1), health(3, 1), health(3, 1)]
        );
        calls.clear();
        assert_eq!(calls.count(Instant::ORIGIN, false), health(1, 0));
    }

    #[test]
    fn what_began_before_the_window_counts_no_more() {
        let mut calls = Calls::new(0, Duration::from_secs(10));
        let at = |calls: &mut Calls, millis| calls.count(Instant::from_millis(millis), true).attempts;
        assert_eq!(at(&mut calls, 0), 1);
        assert_eq!(at(&mut calls, 900), 2, "in the same tenth");
        assert_eq!(at(&mut calls, 1000), 3);
        assert_eq!(at(&mut calls, 9999), 4);
        assert_eq!(at(&mut calls, 10_000), 3, "the first tenth is forgotten as a whole");
        assert_eq!(at(&mut calls, 60_000), 1);
    }
}
