//! Early wake-ups of threads, so that a timer is punctual.
//!
//! A thread that sleeps until an instant wakes some ten microseconds late, because the processor has to leave its own
//! sleep state and the scheduler has to find the thread. To be punctual, wake early by the measured latency and
//! busy-wait for the remainder.

use std::time::Duration;

/// Maximum time by which a thread is woken early.
const MAX_AHEAD: Duration = Duration::from_micros(80);

/// Inverse of the maximum share of time spent busy-waiting: a tenth of the elapsed time. Very frequent timers would
/// exceed this budget. They need no busy-waiting, because the thread sleeps only for a short time between them.
const SHARE: u32 = 10;

/// Initial budget for busy-waiting, which is available before any time has passed. It is added to the share of the
/// elapsed time.
const ADVANCE: Duration = Duration::from_millis(2);

/// Divisor by which measurements of the wake-up latency are smoothed. Each new measurement gets the weight
/// 1/`SMOOTHING`, like round-trip times in RFC 6298, section 2.
const SMOOTHING: u32 = 8;

/// Smoothed wake-up latency of threads, and the time spent busy-waiting. Instants are durations since any origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyWaking {
    lateness: Duration,
    awake: Duration,
}

impl Default for EarlyWaking {
    fn default() -> Self {
        Self { lateness: Duration::from_micros(50), awake: Duration::ZERO }
    }
}

impl EarlyWaking {
    /// Returns how long before its due time a thread should be woken, so that it can busy-wait for the remainder.
    /// Returns zero once the budget for busy-waiting is used up.
    pub(crate) fn ahead(&self, now: Duration) -> Duration {
        let may_stay_awake = self.awake < now / SHARE + ADVANCE;
        if may_stay_awake { self.lateness.min(MAX_AHEAD) } else { Duration::ZERO }
    }

    /// Records one measurement of the wake-up latency: a thread that was due to wake at `meant` woke at `now`.
    pub(crate) fn woken(&mut self, meant: Duration, now: Duration) {
        // The measured lateness of the thread is capped. A longer delay means that another thread occupied the
        // processor. Such a delay cannot be predicted.
        let late = now.saturating_sub(meant).min(2 * MAX_AHEAD);
        self.lateness = (self.lateness * (SMOOTHING - 1) + late) / SMOOTHING;
    }

    pub(crate) fn stayed_awake(&mut self, time: Duration) {
        self.awake += time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    #[test]
    fn late_wake_ups_advance_later_ones_up_to_a_bound() {
        let mut waking = EarlyWaking::default();
        for _ in 0..100 {
            waking.woken(Duration::from_secs(1), Duration::from_secs(1) + 30 * MICRO);
        }
        let ahead = waking.ahead(Duration::from_secs(1));
        assert!((25 * MICRO..=31 * MICRO).contains(&ahead), "{ahead:?}");
        for _ in 0..100 {
            waking.woken(Duration::from_secs(1), Duration::from_secs(2));
        }
        assert_eq!(waking.ahead(Duration::from_secs(1)), MAX_AHEAD);
    }

    #[test]
    fn a_tenth_of_the_time_is_spent_awake_at_most() {
        let mut waking = EarlyWaking::default();
        waking.stayed_awake(Duration::from_millis(100));
        assert_eq!(waking.ahead(Duration::from_millis(900)), Duration::ZERO);
        assert!(waking.ahead(Duration::from_millis(990)) > Duration::ZERO);
    }
}
