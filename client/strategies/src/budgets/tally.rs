//! Counts of requests and of accepted requests over a recent window of time slices. The oldest slices expire.
//!
//! Source: failsafe-go/failsafe-go `internal/util/stats.go` (`timedStats`).

use std::time::Duration;

use super::slices::Slices;
use crate::Instant;

const SLICES: usize = 20;

pub(super) struct Tally {
    slices: Slices<Counts, SLICES>,
    sum: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) requests: u64,
    pub(super) accepted: u64,
}

impl Counts {
    pub(super) fn count(&mut self, accepted: bool) {
        self.requests += 1;
        self.accepted += u64::from(accepted);
    }

    pub(super) fn forget(&mut self, old: Self) {
        self.requests -= old.requests;
        self.accepted -= old.accepted;
    }
}

impl Tally {
    pub(super) fn over(window: Duration) -> Self {
        Self { slices: Slices::over(window), sum: Counts::default() }
    }

    pub(super) fn count(&mut self, now: Instant, accepted: bool) {
        let Self { slices, sum } = self;
        slices.at_forgetting(now, |old| sum.forget(old)).count(accepted);
        sum.count(accepted);
    }

    pub(super) fn as_of_the_last(&self) -> Counts {
        self.sum
    }

    pub(super) fn at(&self, now: Instant) -> Counts {
        let mut counts = self.sum;
        self.slices.over_by(now).for_each(|old| counts.forget(*old));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Instant {
        Instant::from_millis(1000 * secs)
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten_a_slice_at_a_time() {
        let mut tally = Tally::over(Duration::from_secs(20));
        tally.count(secs(0), true);
        tally.count(secs(1), false);
        tally.count(secs(19), true);
        assert_eq!(tally.at(secs(19)), Counts { requests: 3, accepted: 2 });
        assert_eq!(tally.at(secs(20)), Counts { requests: 2, accepted: 1 });
        assert_eq!(tally.at(secs(21)), Counts { requests: 1, accepted: 1 });
        assert_eq!(tally.at(secs(1000)), Counts::default());
        assert_eq!(tally.as_of_the_last(), Counts { requests: 3, accepted: 2 });
        tally.count(secs(38), false);
        assert_eq!(tally.as_of_the_last(), Counts { requests: 2, accepted: 1 });
        tally.count(secs(1_000_000), false);
        assert_eq!(tally.at(secs(1_000_000)), Counts { requests: 1, accepted: 0 });
    }
}
