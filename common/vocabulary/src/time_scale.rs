//! Ratio of real time to experiment time. State machines use only experiment time. Only the drivers and servers around
//! the state machines convert it to real time.

use std::time::Duration;

use crate::instant::nanos;

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

impl std::fmt::Display for TimeScale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    fn durations_are_stretched_both_ways() {
        let scale = TimeScale::parse("0.2").unwrap();
        assert_eq!(scale.to_real(Duration::from_secs(10)), Duration::from_secs(2));
        assert_eq!(scale.to_experiment(Duration::from_secs(2)), Duration::from_secs(10));
        for nonsense in ["0", "-1", "NaN", "inf", "1e9", "fast"] {
            assert!(TimeScale::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
