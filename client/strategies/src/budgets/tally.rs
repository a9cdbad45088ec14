//! Requests and how many of them were accepted, over the last while: slices of time on a grid, of which the oldest are forgotten.
//!
//! Source: failsafe-go/failsafe-go `internal/util/stats.go` (`timedStats`).

use std::time::Duration;

use vocabulary::whole_nanos;

use crate::Instant;

/// Slices that the while is divided into.
const SLICES: usize = 20;

/// See the module.
pub(super) struct Tally {
    slices: [Counts; SLICES],
    /// All of them together.
    sum: Counts,
    /// The slice of time that was last written to, counted from the origin.
    head: u64,
    width_ns: u64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) requests: u64,
    pub(super) accepted: u64,
}

impl Tally {
    /// Over that much time.
    pub(super) fn over(window: Duration) -> Self {
        let width_ns = (whole_nanos(window) / SLICES as u64).max(1);
        Self { slices: [Counts::default(); SLICES], sum: Counts::default(), head: 0, width_ns }
    }

    /// One request more.
    pub(super) fn count(&mut self, now: Instant, accepted: bool) {
        let head = now.as_nanos() / self.width_ns;
        for slice in (self.head + 1..=head).rev().take(SLICES) {
            let old = std::mem::take(&mut self.slices[place(slice)]);
            self.sum.requests -= old.requests;
            self.sum.accepted -= old.accepted;
        }
        self.head = self.head.max(head);
        for counts in [&mut self.slices[place(self.head)], &mut self.sum] {
            counts.requests += 1;
            counts.accepted += u64::from(accepted);
        }
    }

    /// What was counted up to the last request, however long ago that was.
    pub(super) fn as_of_the_last(&self) -> Counts {
        self.sum
    }

    /// What was counted in the while before `now`.
    pub(super) fn at(&self, now: Instant) -> Counts {
        let mut counts = self.sum;
        let head = now.as_nanos() / self.width_ns;
        for slice in (self.head + 1..=head).rev().take(SLICES) {
            let old = self.slices[place(slice)];
            counts.requests -= old.requests;
            counts.accepted -= old.accepted;
        }
        counts
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is below the number of slices")]
fn place(slice: u64) -> usize {
    (slice % SLICES as u64) as usize
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
