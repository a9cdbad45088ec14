//! The time that state machines are given: whole nanoseconds since the experiment's origin.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// A point of experiment time, in nanoseconds since the origin of the run (or of the server).
///
/// Unlike [`std::time::Instant`] it can be made from a number, so that the same code runs in virtual time.
/// Arithmetic saturates: [`Instant::FAR_FUTURE`] is later than everything that ever happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The origin: nothing happens before it.
    pub const ORIGIN: Self = Self(0);
    /// Later than every event (about 584 years).
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The instant `millis` milliseconds after the origin.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the origin, for figures and screens.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Time since the origin.
    pub const fn since_origin(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(whole_nanos(duration)))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.as_secs_f64())
    }
}

/// A duration in nanoseconds; what no `u64` holds saturates. Much cheaper than by way of a `u128`.
pub const fn whole_nanos(duration: Duration) -> u64 {
    let nanos = duration.as_secs().saturating_mul(1_000_000_000);
    nanos.saturating_add(duration.subsec_nanos() as u64)
}

/// That many nanoseconds, to the nearest whole one; what no `u64` holds saturates, and not-a-number is zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturation is what is wanted")]
pub fn nanos(value: f64) -> Duration {
    // What `libm::round` does of numbers that are not below zero, but for cutting the rest off, which the conversion does. A whole half
    // would round the number just below a half up.
    Duration::from_nanos((value + (0.5 - 0.25 * f64::EPSILON)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturation is what is wanted"
    )]
    fn numbers_are_rounded_as_libm_rounds_them() {
        let near = |value: f64| [value.next_down(), value, value.next_up()];
        let powers = (0..64).map(|bits| (1_u64 << bits) as f64);
        let values =
            powers.flat_map(|power| [power, power + 0.5, power - 0.5, power * 0.7, -power, power / 1e9]);
        let special =
            [0.0, -0.0, 0.5, 1.5, 2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE];
        for value in values.chain(special).flat_map(near) {
            assert_eq!(nanos(value), Duration::from_nanos(libm::round(value) as u64), "{value}");
        }
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!((whole_nanos(Duration::MAX), whole_nanos(Duration::from_micros(7))), (u64::MAX, 7000));
        assert_eq!(Instant::FAR_FUTURE + Duration::MAX, Instant::FAR_FUTURE);
        assert_eq!(Instant::ORIGIN.since(Instant::from_nanos(1)), Duration::ZERO);
        assert_eq!(Instant::from_millis(3).since(Instant::from_millis(1)), Duration::from_millis(2));
    }
}
