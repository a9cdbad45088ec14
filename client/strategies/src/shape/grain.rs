//! Rounding of the final delay. It imitates the rounding by a client's timer or arithmetic.

use std::time::Duration;

use vocabulary::choices;

use crate::delay::fraction;

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Grain {
        #[default]
        None = "none",
        CutMs = "cut-ms",
        RoundMs = "round-ms",
        CutS = "cut-s",
        RoundS = "round-s",
        /// Rounds down to whole milliseconds, but at least to 1 ms, as timers of `JavaScript` do (Node.js,
        /// `lib/internal/timers.js`).
        Timer = "timer",
    }
}

impl Grain {
    /// Returns the fraction `ratio` of a delay, rounded to the nearest nanosecond. But if the final delay will be
    /// truncated, the fraction is rounded down. The reason is that rounding up could reach the upper end of a range,
    /// which is excluded.
    pub(crate) fn part_of(self, delay: Duration, ratio: f64) -> Duration {
        match self {
            Self::CutMs | Self::CutS | Self::Timer => {
                vocabulary::nanos(libm::floor(vocabulary::whole_nanos(delay) as f64 * ratio))
            }
            Self::None | Self::RoundMs | Self::RoundS => fraction(delay, ratio),
        }
    }

    pub(crate) fn of(self, delay: Duration) -> Duration {
        match self {
            Self::None => delay,
            Self::CutMs => cut(delay),
            Self::RoundMs => cut(delay.saturating_add(MILLISECOND / 2)),
            Self::CutS => Duration::from_secs(delay.as_secs()),
            Self::RoundS => Duration::from_secs(delay.saturating_add(Duration::from_millis(500)).as_secs()),
            Self::Timer => cut(delay).max(MILLISECOND),
        }
    }
}

const MILLISECOND: Duration = Duration::from_millis(1);

fn cut(delay: Duration) -> Duration {
    Duration::new(delay.as_secs(), delay.subsec_millis() * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_cut_or_rounded() {
        let micros = |grain: Grain, micros| grain.of(Duration::from_micros(micros)).as_micros();
        for (grain, of_half, of_1_7_ms, of_1_5_s) in [
            (Grain::None, 500, 1700, 1_500_000),
            (Grain::CutMs, 0, 1000, 1_500_000),
            (Grain::RoundMs, 1000, 2000, 1_500_000),
            (Grain::CutS, 0, 0, 1_000_000),
            (Grain::RoundS, 0, 0, 2_000_000),
            (Grain::Timer, 1000, 1000, 1_500_000),
        ] {
            let rounded = [500, 1700, 1_500_000].map(|of| micros(grain, of));
            assert_eq!(rounded, [of_half, of_1_7_ms, of_1_5_s], "{grain:?}");
        }
        assert_eq!(Grain::Timer.of(Duration::ZERO), Duration::from_millis(1));
        assert_eq!(Grain::RoundMs.of(Duration::MAX).as_secs(), u64::MAX);
    }
}
