//! Experiment time: whole nanoseconds since the experiment's origin. State machines receive it as an argument. Also its scale in real
//! time, and the calendar time of an answer.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// Point of experiment time, in nanoseconds since the origin of the run (or of the server).
///
/// Unlike [`std::time::Instant`], such a point can be created from a number, so the same code runs in virtual time.
/// Arithmetic saturates at [`Instant::FAR_FUTURE`], which is later than every event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    pub const ORIGIN: Self = Self(0);
    /// Instant that is later than every event (about 584 years).
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time that has passed since `earlier`, or zero if `earlier` is later than `self`.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// Returns the time since `earlier` in nanoseconds; 0 if `earlier` is later.
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub const fn since_origin(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    #[inline]
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(whole_nanos(duration)))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.as_secs_f64())
    }
}

/// Returns a duration in nanoseconds, saturating at `u64::MAX`. This function is much cheaper than a conversion through
/// `u128`.
pub const fn whole_nanos(duration: Duration) -> u64 {
    let nanos = duration.as_secs().saturating_mul(1_000_000_000);
    nanos.saturating_add(duration.subsec_nanos() as u64)
}

/// Returns a duration of `value` nanoseconds, rounded to the nearest whole one. Saturates at the range of `u64`; NaN is zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates on purpose"
)]
pub fn nanos(value: f64) -> Duration {
    // Round non-negative numbers as `libm::round` does. The conversion to an integer truncates, so slightly less than
    // 0.5 is added first. Adding exactly 0.5 would round up the largest number below a half.
    Duration::from_nanos((value + (0.5 - 0.25 * f64::EPSILON)) as u64)
}

/// Calendar time with a precision of a nanosecond. Like [`Instant`], calendar time is passed as an argument, because
/// this crate reads no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime {
    since_epoch: Duration,
}

impl WallTime {
    /// Calendar time at [`Instant::ORIGIN`] in virtual time: 2026-01-01, 00:00:00 UTC.
    pub const VIRTUAL_START: Self = Self::from_unix(Duration::from_hours(490_896));

    /// Creates a calendar time from the duration since 1970-01-01, 00:00:00 UTC, without leap seconds.
    pub const fn from_unix(since_epoch: Duration) -> Self {
        Self { since_epoch }
    }

    pub const fn since_unix(self) -> Duration {
        self.since_epoch
    }

    /// Returns the calendar time at the instant `now` of a run that began at the calendar time `self`.
    #[must_use]
    pub fn at(self, now: Instant) -> Self {
        Self { since_epoch: self.since_epoch.saturating_add(now.since(Instant::ORIGIN)) }
    }

    pub const fn until(self, later: Self) -> Option<Duration> {
        later.since_epoch.checked_sub(self.since_epoch)
    }
}

/// Real seconds per second of the experiment. With a value below 1, the experiment runs faster than real time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale(f64);

impl Default for TimeScale {
    fn default() -> Self {
        Self(1.0)
    }
}

impl TimeScale {
    pub fn parse(text: &str) -> Result<Self, String> {
        let scale = text.parse().ok().filter(|scale| (0.001..=1000.0).contains(scale));
        scale.map(Self).ok_or_else(|| "it must be a number from 0.001 to 1000".to_owned())
    }

    pub const fn factor(self) -> f64 {
        self.0
    }

    pub fn to_real(self, duration: Duration) -> Duration {
        scaled(duration, self.0)
    }

    pub fn to_experiment(self, duration: Duration) -> Duration {
        scaled(duration, 1.0 / self.0)
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[expect(clippy::float_cmp, reason = "a scale of exactly 1 changes nothing")]
fn scaled(duration: Duration, factor: f64) -> Duration {
    if factor == 1.0 { duration } else { nanos(duration.as_nanos() as f64 * factor) }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates on purpose"
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

    #[test]
    fn wall_time_advances_with_the_run_and_detects_past_instants() {
        let (start, second) = (WallTime::VIRTUAL_START, Duration::from_secs(1));
        let later = start.at(Instant::ORIGIN + second);
        assert_eq!((start.until(later), later.until(start)), (Some(second), None));
        assert_eq!(start.until(start), Some(Duration::ZERO));
    }

    #[test]
    fn durations_are_stretched_both_ways() {
        let scale = TimeScale::parse("0.2").unwrap();
        assert_eq!(scale.to_real(Duration::from_secs(10)), Duration::from_secs(2));
        assert_eq!(scale.to_experiment(Duration::from_secs(2)), Duration::from_secs(10));
        for nonsense in ["0", "-1", "NaN", "inf", "1e9", "fast"] {
            assert!(TimeScale::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
