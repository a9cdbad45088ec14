//! Fixed and random durations, such as `exp(500ms)`: their notation, validation and random draws.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rand_core::Rng;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::chance::unit;
use crate::duration_text;
use crate::instant::{nanos, whole_nanos};

/// Fixed duration, or distribution of random durations.
///
/// The notations are `500ms`, `exp(500ms)`, `lognormal(500ms,0.3)`, `uniform(400ms,600ms)` and `normal(10ms,2ms)`.
/// [`Distribution::FORMS`] explains the notations in help texts.
///
/// The value of `exp` is the mean. The first value of `lognormal` is the mean of the durations, neither their median
/// nor the mean of their logarithms. Its second value is the standard deviation of the logarithm. The values of
/// `normal` are the mean and the standard deviation. Its draws may be negative, so their absolute value is used, as in
/// seed 004 (an experiment with conditional writes).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(try_from = "String", into = "String"))]
pub enum Distribution {
    Constant(Duration),
    Exponential {
        mean: Duration,
    },
    LogNormal {
        /// Mean of the durations. Because the mean is given, a server's capacity does not depend on `sigma`. The median
        /// of the durations is shorter than the mean, by the factor exp(−sigma²/2). The mean of the logarithms is a
        /// third, different value.
        mean: Duration,
        /// Standard deviation of the logarithm of the durations, 0 to 3.
        sigma: f64,
    },
    Uniform {
        low: Duration,
        high: Duration,
    },
    Normal {
        mean: Duration,
        deviation: Duration,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is neither a duration nor a distribution: {why}; write {forms}",
    forms = Distribution::FORMS
)]
pub struct DistributionError {
    text: String,
    why: String,
}

impl Distribution {
    pub const FORMS: &str = "`500ms`, `exp(MEAN)`, `lognormal(MEAN,SIGMA)` (MEAN of the durations, SIGMA of their logarithm), \
                             `uniform(LOW,HIGH)` or `normal(MEAN,SD)`";

    pub const ZERO: Self = Self::Constant(Duration::ZERO);

    pub const fn millis(millis: u64) -> Self {
        Self::Constant(Duration::from_millis(millis))
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// Returns the mean of the durations. For `normal`, it is the mean of the normal distribution, before absolute
    /// values are taken.
    pub fn mean(&self) -> Duration {
        match *self {
            Self::Constant(value) => value,
            Self::Exponential { mean } | Self::LogNormal { mean, .. } | Self::Normal { mean, .. } => mean,
            Self::Uniform { low, high } => low + high.saturating_sub(low) / 2,
        }
    }

    /// Returns a distribution of the same shape with another mean. To keep the shape, all durations are multiplied by
    /// one factor.
    #[must_use]
    pub fn with_mean(&self, mean: Duration) -> Self {
        let factor = mean.as_secs_f64() / self.mean().as_secs_f64();
        let times = |duration: Duration| nanos(whole_nanos(duration) as f64 * factor);
        match *self {
            Self::Exponential { .. } => Self::Exponential { mean },
            Self::LogNormal { sigma, .. } => Self::LogNormal { mean, sigma },
            Self::Uniform { low, high } if factor.is_finite() => {
                Self::Uniform { low: times(low), high: times(high) }
            }
            Self::Normal { deviation, .. } if factor.is_finite() => {
                Self::Normal { mean, deviation: times(deviation) }
            }
            Self::Constant(_) | Self::Uniform { .. } | Self::Normal { .. } => Self::Constant(mean),
        }
    }

    /// Returns a lower bound of all durations that can be drawn: the smallest of them, or slightly less.
    pub fn least(&self) -> Duration {
        match *self {
            Self::Constant(value) => value,
            // The smallest draw of an exponential distribution is zero, because the random number in `[0, 1)` may be
            // zero.
            Self::Exponential { .. } => Duration::ZERO,
            Self::LogNormal { mean, sigma: 0.0 } | Self::Normal { mean, deviation: Duration::ZERO } => {
                nanos(whole_nanos(mean) as f64)
            }
            Self::LogNormal { mean, sigma } => {
                let lowest = libm::exp(-FARTHEST_NORMAL * sigma - sigma * sigma / 2.0);
                below(lowest * whole_nanos(mean) as f64)
            }
            Self::Uniform { low, .. } => low,
            Self::Normal { mean, deviation } => {
                below(whole_nanos(mean) as f64 - FARTHEST_NORMAL * whole_nanos(deviation) as f64)
            }
        }
    }

    /// Draws a duration from this distribution. A constant duration consumes no random numbers.
    pub fn sample(&self, rng: &mut dyn Rng) -> Duration {
        match *self {
            Self::Constant(value) => value,
            Self::Exponential { mean } => nanos(-libm::log(1.0 - unit(rng)) * whole_nanos(mean) as f64),
            Self::LogNormal { mean, sigma } => nanos(
                libm::exp(sigma * standard_normal(rng) - sigma * sigma / 2.0) * whole_nanos(mean) as f64,
            ),
            Self::Uniform { low, high } => {
                let width = whole_nanos(high.saturating_sub(low)) as f64;
                low + nanos(unit(rng) * width)
            }
            Self::Normal { mean, deviation } => {
                nanos((whole_nanos(mean) as f64 + whole_nanos(deviation) as f64 * standard_normal(rng)).abs())
            }
        }
    }
}

impl FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why: String| DistributionError { text: text.to_owned(), why };
        let duration = |part: &str| duration_text::parse(part).map_err(|error| refuse(error.to_string()));
        let trimmed = text.trim();
        let Some((name, rest)) = trimmed.split_once('(') else {
            return duration(trimmed).map(Self::Constant);
        };
        let inside = rest.strip_suffix(')').ok_or_else(|| refuse("the closing `)` is missing".to_owned()))?;
        let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
        match (name.trim(), parts.as_slice()) {
            ("exp", [mean]) => Ok(Self::Exponential { mean: duration(mean)? }),
            ("lognormal", [mean, sigma]) => {
                let mean = duration(mean)?;
                let sigma = sigma
                    .parse::<f64>()
                    .ok()
                    .filter(|sigma| (0.0..=3.0).contains(sigma))
                    .ok_or_else(|| refuse(format!("sigma `{sigma}` must be a number from 0 to 3")))?;
                Ok(Self::LogNormal { mean, sigma })
            }
            ("uniform", [low, high]) => {
                let (low, high) = (duration(low)?, duration(high)?);
                if low > high {
                    return Err(refuse("its lower end is above its upper end".to_owned()));
                }
                Ok(Self::Uniform { low, high })
            }
            ("normal", [mean, deviation]) => {
                Ok(Self::Normal { mean: duration(mean)?, deviation: duration(deviation)? })
            }
            (name @ ("exp" | "lognormal" | "uniform" | "normal"), parts) => Err(refuse(format!(
                "`{name}` must have {} value(s), not {}",
                if name == "exp" { 1 } else { 2 },
                parts.len()
            ))),
            (name, _) => Err(refuse(format!(
                "`{name}` is not a known distribution{}",
                crate::did_you_mean(name, ["exp", "lognormal", "uniform", "normal"])
            ))),
        }
    }
}

impl TryFrom<String> for Distribution {
    type Error = DistributionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Distribution> for String {
    fn from(distribution: Distribution) -> Self {
        distribution.to_string()
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use duration_text::format;
        match self {
            Self::Constant(value) => f.write_str(&format(*value)),
            Self::Exponential { mean } => write!(f, "exp({})", format(*mean)),
            Self::LogNormal { mean, sigma } => write!(f, "lognormal({},{sigma})", format(*mean)),
            Self::Uniform { low, high } => write!(f, "uniform({},{})", format(*low), format(*high)),
            Self::Normal { mean, deviation } => write!(f, "normal({},{})", format(*mean), format(*deviation)),
        }
    }
}

/// Upper bound of the absolute value that [`standard_normal`] returns. The radius in the Box–Muller transform is at
/// most √(106 ln 2) = 8.5717, because the uniform random number is at most 1 - 2⁻⁵³.
const FARTHEST_NORMAL: f64 = 8.58;

/// Rounds a duration down to whole nanoseconds. The result is never above `value`, because a margin for rounding errors
/// is subtracted.
fn below(value: f64) -> Duration {
    nanos(libm::floor(value * (1.0 - 1e-12)) - 1.0)
}

/// Draws a standard normal variate with the Box–Muller transform. The functions of `libm` are used, because they return
/// the same bits on every machine.
fn standard_normal(rng: &mut dyn Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - unit(rng)));
    radius * libm::cos(2.0 * std::f64::consts::PI * unit(rng))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, draws};

    #[test]
    fn what_is_written_is_read_back() {
        for text in
            ["500ms", "exp(500ms)", "lognormal(500ms,0.3)", "uniform(400ms,600ms)", "normal(10ms,2ms)"]
        {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        for (text, why) in [
            ("expo(5ms)", "did you mean `exp`?"),
            ("exp(5ms", "closing `)`"),
            ("exp(5)", "`5` is not a duration"),
            ("uniform(2s,1s)", "above its upper end"),
            ("lognormal(1s,9)", "from 0 to 3"),
            ("lognormal(1s,nan)", "from 0 to 3"),
            ("normal(1s)", "must have 2 value(s), not 1"),
            ("lognormal(1s)", "`lognormal(MEAN,SIGMA)` (MEAN of the durations, SIGMA of their logarithm)"),
            ("-5ms", "neither a duration"),
        ] {
            let error = text.parse::<Distribution>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_mean_of_many_draws_is_the_stated_mean() {
        for (text, deviation_ms) in [
            ("500ms", 0.0),
            ("exp(500ms)", 500.0),
            ("lognormal(500ms,0.3)", 153.5),
            ("uniform(400ms,600ms)", 57.7),
            ("normal(500ms,20ms)", 20.0),
        ] {
            let distribution: Distribution = text.parse().unwrap();
            let count = 20_000;
            let sum: f64 = (0..count)
                .map(|op| distribution.sample(&mut draws(7, Purpose::ServiceTime, op, 0)).as_secs_f64())
                .sum();
            let mean_ms = sum / count as f64 * 1e3;
            let error_ms = 4.0 * deviation_ms / (count as f64).sqrt() + 1e-6;
            assert!((mean_ms - 500.0).abs() < error_ms, "{text}: {mean_ms}");
            assert_eq!(distribution.mean(), Duration::from_millis(500));
        }
    }

    /// Generator of the farthest normal variate: first the longest radius, then half a turn.
    struct Last(u64);
    impl rand_core::TryRng for Last {
        type Error = core::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(u32::MAX)
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            self.0 += 1;
            Ok(if self.0 == 1 { u64::MAX } else { 1 << 63 })
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            bytes.fill(u8::MAX);
            Ok(())
        }
    }

    #[test]
    fn no_draw_is_below_the_least() {
        for (text, least_ms) in [
            ("500ms", 500),
            ("exp(500ms)", 0),
            ("lognormal(500ms,0)", 500),
            ("lognormal(500ms,0.3)", 36),
            ("uniform(400ms,600ms)", 400),
            ("normal(500ms,20ms)", 328),
            ("normal(20ms,20ms)", 0),
            ("normal(20ms,0s)", 20),
        ] {
            let distribution: Distribution = text.parse().unwrap();
            assert_eq!(distribution.least().as_millis(), least_ms, "{text}");
            let draw = |op| distribution.sample(&mut draws(7, Purpose::Network, op, 1));
            assert!((0..20_000).all(|op| draw(op) >= distribution.least()), "{text}");
        }
    }

    #[test]
    fn the_least_is_hardly_less_than_the_farthest_draw_there_can_be() {
        for text in ["normal(500ms,20ms)", "normal(9s,1s)", "lognormal(500ms,0.3)", "lognormal(1h,3)"] {
            let distribution: Distribution = text.parse().unwrap();
            let farthest = distribution.sample(&mut Last(0));
            assert!(farthest >= distribution.least(), "{text}: {farthest:?}");
            assert!(farthest <= distribution.least().mul_f64(1.1), "{text}: {farthest:?}");
        }
    }

    #[test]
    fn extreme_draws_saturate_instead_of_wrapping() {
        assert_eq!(nanos(f64::INFINITY), Duration::from_nanos(u64::MAX));
        assert_eq!(nanos(f64::NAN), Duration::ZERO);
    }
}
