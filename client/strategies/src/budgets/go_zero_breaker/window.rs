//! Sliding window of go-zero's breaker. It counts recent requests. It also counts the time slices with a failure since
//! the last success, and those with a success since the last failure.
//!
//! Source: zeromicro/go-zero `core/breaker/bucket.go`, `googlebreaker.go` (`history`).

use std::time::Duration;

use crate::Instant;
use crate::budgets::slices::Slices;

pub(super) const BUCKETS: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallResult {
    Accepted,
    Failed,
    Refused,
}

#[derive(Debug)]
pub(super) struct Window(Slices<Bucket, { BUCKETS as usize }>);

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    accepted: u64,
    failed: u64,
    refused: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) requests: u64,
    pub(super) accepted: u64,
    /// Number of time slices with a failure since the last slice with a success.
    pub(super) failing: u32,
    /// Number of time slices with a success since the last slice with a failure.
    pub(super) working: u32,
}

impl Window {
    pub(super) fn over(window: Duration) -> Self {
        Self(Slices::over(window))
    }

    pub(super) fn count(&mut self, now: Instant, how: CallResult) {
        let bucket = self.0.at(now);
        let counter = match how {
            CallResult::Accepted => &mut bucket.accepted,
            CallResult::Failed => &mut bucket.failed,
            CallResult::Refused => &mut bucket.refused,
        };
        *counter += 1;
    }

    pub(super) fn at(&self, now: Instant) -> Seen {
        let mut seen = Seen::default();
        for Bucket { accepted, failed, refused } in self.0.before(now) {
            seen.requests += accepted + failed + refused;
            seen.accepted += accepted;
            seen.working = if *failed > 0 { 0 } else { seen.working + u32::from(*accepted > 0) };
            seen.failing = if *accepted > 0 { 0 } else { seen.failing + u32::from(*failed > 0) };
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(window: &mut Window, slices: &[(u64, CallResult)]) -> Seen {
        for (slice, how) in slices {
            window.count(Instant::from_millis(250 * slice), *how);
        }
        window.at(Instant::from_millis(250 * slices[slices.len() - 1].0))
    }

    #[test]
    fn slices_at_the_end_that_all_fail_or_work_are_counted() {
        use CallResult::{Accepted, Failed, Refused};
        let mut window = Window::over(Duration::from_secs(10));
        let seen = after(&mut window, &[(0, Accepted), (1, Failed), (2, Refused), (3, Failed)]);
        assert_eq!(seen, Seen { requests: 4, accepted: 1, failing: 2, working: 0 });
        let seen = after(&mut window, &[(4, Failed), (4, Accepted)]);
        assert_eq!((seen.failing, seen.working), (0, 0), "a slice with both is neither");
        let seen = after(&mut window, &[(6, Accepted), (8, Accepted)]);
        assert_eq!((seen.failing, seen.working), (0, 2), "empty slices change nothing");
        assert_eq!(window.at(Instant::from_millis(250 * 48)), Seen::default());
    }

    /// go-zero, `TestGoogleBreakerHistory`.
    #[test]
    fn the_history_of_go_zero_comes_out() {
        let both = [CallResult::Failed, CallResult::Accepted];
        for (each, accepted) in [(&both[1..], 10), (&both[..1], 0), (&both[..], 5)] {
            let mut window = Window::over(Duration::from_millis(400));
            for number in 0..10 {
                let how = each[number * each.len() / 10];
                window.count(Instant::from_millis(5 * number as u64), how);
            }
            let seen = window.at(Instant::from_millis(50));
            assert_eq!((seen.accepted, seen.requests), (accepted, 10));
            assert_eq!(window.at(Instant::from_millis(500)), Seen::default(), "auto reset rolling counter");
        }
    }
}
