//! Being awake when something is due.
//!
//! A thread that sleeps until an instant wakes some ten microseconds after it: the processor has to leave its own sleep, and the scheduler
//! to find the thread. Who is to be there in time is woken that much earlier, and stays awake for the rest.

use std::time::Duration;

/// Nobody is woken earlier than this.
const MOST_AHEAD: Duration = Duration::from_micros(80);

/// One part in so many of the time may be spent awake, waiting: what comes more often than that is dense enough for sleep to be short.
const SHARE: u32 = 10;

/// Time to spend before any has passed.
const ADVANCE: Duration = Duration::from_millis(2);

/// A lateness counts for one part in so many of what is expected, as round-trip times do in RFC 6298, section 2.
const SMOOTHING: u32 = 8;

/// How late a thread wakes, learned, and how much it may do about that. Instants are durations since any origin.
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
    /// How long before it is due somebody should be woken who is to stay awake then.
    pub(crate) fn ahead(&self, now: Duration) -> Duration {
        let may_stay_awake = self.awake < now / SHARE + ADVANCE;
        if may_stay_awake { self.lateness.min(MOST_AHEAD) } else { Duration::ZERO }
    }

    /// A thread that slept was to be woken at `meant`, and was at `now`.
    pub(crate) fn woken(&mut self, meant: Duration, now: Duration) {
        // What takes longer is somebody else's turn on the processor, and nothing that can be expected.
        let late = now.saturating_sub(meant).min(2 * MOST_AHEAD);
        self.lateness = (self.lateness * (SMOOTHING - 1) + late) / SMOOTHING;
    }

    /// It stayed awake for so long.
    pub(crate) fn stayed_awake(&mut self, time: Duration) {
        self.awake += time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    #[test]
    fn who_wakes_late_is_woken_earlier_up_to_a_bound() {
        let mut waking = EarlyWaking::default();
        for _ in 0..100 {
            waking.woken(Duration::from_secs(1), Duration::from_secs(1) + 30 * MICRO);
        }
        let ahead = waking.ahead(Duration::from_secs(1));
        assert!((25 * MICRO..=31 * MICRO).contains(&ahead), "{ahead:?}");
        for _ in 0..100 {
            waking.woken(Duration::from_secs(1), Duration::from_secs(2));
        }
        assert_eq!(waking.ahead(Duration::from_secs(1)), MOST_AHEAD);
    }

    #[test]
    fn a_tenth_of_the_time_is_spent_awake_at_most() {
        let mut waking = EarlyWaking::default();
        waking.stayed_awake(Duration::from_millis(100));
        assert_eq!(waking.ahead(Duration::from_millis(900)), Duration::ZERO);
        assert!(waking.ahead(Duration::from_millis(990)) > Duration::ZERO);
    }
}
