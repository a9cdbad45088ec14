//! Success rate of a breaker: a moving average, or the exact share within a window.
//!
//! Source: twitter/finagle `util/Ema.scala` and `liveness/FailureAccrualPolicy.scala`; linkerd/linkerd2-proxy
//! `linkerd/app/outbound/src/http/breaker/success_rate.rs`.

use std::time::Duration;

use vocabulary::choices;

use crate::Instant;
use crate::budgets::slices::Slices;
use crate::budgets::windowed_adder::WindowedAdder;

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Average {
        /// Average in which attempts are weighted by their age, as in Finagle.
        #[default]
        Moving = "moving",
        /// Average in which all attempts within the window have equal weight, as in linkerd.
        Exact = "exact",
    }
}

#[derive(Debug)]
pub(super) enum Rate {
    Moving(Moving),
    Exact(Slices<Counts, 10>),
}

#[derive(Debug)]
pub(super) struct Moving {
    /// Length of the window in milliseconds, or in attempts if `by_calls` is true.
    window: u64,
    by_calls: bool,
    began: Instant,
    calls: u64,
    /// First the time of the last attempt, in the unit of `window`; then the average success rate at that time.
    last: Option<(u64, f64)>,
    recent: WindowedAdder<4>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    attempts: u32,
    succeeded: u32,
}

impl Rate {
    pub(super) fn new(average: Average, window: Duration, calls: u32) -> Self {
        match average {
            Average::Exact => Self::Exact(Slices::over(window)),
            Average::Moving => Self::Moving(Moving {
                window: if calls > 0 { calls.into() } else { millis(window) },
                by_calls: calls > 0,
                began: Instant::ORIGIN,
                calls: 0,
                last: None,
                recent: WindowedAdder::over(window),
            }),
        }
    }

    pub(super) fn count(&mut self, now: Instant, succeeded: bool) -> f64 {
        match self {
            Self::Moving(moving) => moving.count(now, succeeded),
            Self::Exact(slices) => {
                let counts = slices.at(now);
                counts.attempts += 1;
                counts.succeeded += u32::from(succeeded);
                let Counts { attempts, succeeded } = sum(slices, now);
                f64::from(succeeded) / f64::from(attempts)
            }
        }
    }

    /// Returns whether enough attempts have ended for the success rate to be used. With `average=moving`, a whole
    /// window must have passed. If the window is a time, there must also be at least `least` recent attempts. With
    /// `average=exact`, at least `least` attempts in the window are enough.
    pub(super) fn has_measured(&mut self, now: Instant, least: u32) -> bool {
        match self {
            Self::Moving(moving) => {
                let stamp = moving.last.map_or(0, |(stamp, _)| stamp);
                moving.recent.expire(now);
                stamp >= moving.window && (moving.by_calls || moving.recent.sum() >= i64::from(least))
            }
            Self::Exact(slices) => sum(slices, now).attempts >= least,
        }
    }

    pub(super) fn forget(&mut self, now: Instant) {
        match self {
            Self::Moving(moving) => {
                (moving.began, moving.calls, moving.last) = (now, 0, None);
                moving.recent.restart(now);
            }
            Self::Exact(slices) => slices.restart(now),
        }
    }
}

impl Moving {
    fn count(&mut self, now: Instant, succeeded: bool) -> f64 {
        self.calls += 1;
        self.recent.expire(now);
        self.recent.add(1);
        let stamp = if self.by_calls { self.calls } else { millis(now.since(self.began)) };
        let value = f64::from(u8::from(succeeded));
        let average = match self.last {
            None => value,
            Some((before, average)) => {
                let kept = libm::exp(-(stamp.saturating_sub(before) as f64) / self.window as f64);
                value * (1.0 - kept) + average * kept
            }
        };
        self.last = Some((self.last.map_or(stamp, |(before, _)| stamp.max(before)), average));
        average
    }
}

fn sum(slices: &Slices<Counts, 10>, now: Instant) -> Counts {
    slices.before(now).fold(Counts::default(), |sum, counts| Counts {
        attempts: sum.attempts + counts.attempts,
        succeeded: sum.succeeded + counts.succeeded,
    })
}

/// Truncates a duration to whole milliseconds, the resolution of JVM clocks.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_moving_average_halves_in_ln_2_of_its_window() {
        let mut rate = Rate::new(Average::Moving, Duration::from_secs(100), 0);
        assert!((rate.count(ms(0), true) - 1.0).abs() < 1e-12, "the first is all there is");
        assert!((rate.count(ms(69_315), false) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_share_recovers_as_failures_are_forgotten() {
        // linkerd, `samples_age_out_after_window`.
        let mut rate = Rate::new(Average::Exact, Duration::from_secs(10), 0);
        for _ in 0..5 {
            assert!(rate.count(ms(0), false).abs() < 1e-12);
        }
        assert!((rate.count(ms(11_000), true) - 1.0).abs() < 1e-12);
        assert!(rate.has_measured(ms(11_000), 1) && !rate.has_measured(ms(11_000), 2));
    }
}
