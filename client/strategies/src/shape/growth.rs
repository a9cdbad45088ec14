//! Growth of delays from retry to retry.

use libm::pow;
use vocabulary::Choice;

/// Rule that computes a delay from the number `k` of the retry. The first retry has `k` = 1, unless the parameter
/// `start` sets another number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Growth {
    Constant,
    Exponential(f64),
    /// Delay of `base · (factor^k − 1)`, as in azcore of Go and older versions of Envoy.
    ExponentialLessOne(f64),
    /// Delay of `factor` times the previous delay, truncated to whole milliseconds at every step, as in resilience4j.
    Truncated(f64),
    Linear,
    Square,
    /// Delay of `base · k⁴` before the retry with number `k`, as in Sidekiq.
    Quartic,
    Fibonacci,
    /// Delay drawn uniformly between `base` and three times the previous delay (AWS, Exponential Backoff and Jitter).
    Decorrelated,
    /// Delay of `base · (x(k) − x(k−1)) / 1.4` with `x(k) = 2^t · tanh(√(4t))`, `t = k − 1 + u`: Polly's decorrelated
    /// jitter v2.
    Polly,
}

impl Growth {
    /// Returns the delay before retry `k` as a multiple of the base, at least zero. For growth rules with random draws,
    /// the result is always 1.
    pub(crate) fn multiple(self, base_nanos: f64, k: u32) -> f64 {
        let count = f64::from(k);
        let multiple = match self {
            Self::Constant | Self::Decorrelated | Self::Polly => 1.0,
            Self::Exponential(factor) => pow(factor, count - 1.0),
            Self::ExponentialLessOne(factor) => pow(factor, count) - 1.0,
            Self::Truncated(factor) => truncated(base_nanos, factor, k),
            Self::Linear => count,
            Self::Square => count * count,
            Self::Quartic => count * count * count * count,
            Self::Fibonacci => fibonacci(k),
        };
        multiple.max(0.0)
    }

    pub(crate) fn with_factor(self, factor: f64) -> Self {
        match self {
            Self::Exponential(_) => Self::Exponential(factor),
            Self::ExponentialLessOne(_) => Self::ExponentialLessOne(factor),
            Self::Truncated(_) => Self::Truncated(factor),
            other => other,
        }
    }

    pub(crate) fn is_slow(self) -> bool {
        matches!(
            self,
            Self::Exponential(_) | Self::ExponentialLessOne(_) | Self::Truncated(_) | Self::Fibonacci
        )
    }
}

/// Maximum number of steps if the growth is computed step by step. After this many steps, the delay exceeds every cap
/// or no longer grows.
const MAX_STEPS: u32 = 128;

fn truncated(base_nanos: f64, factor: f64, k: u32) -> f64 {
    let base = base_nanos / 1e6;
    let steps = k.saturating_sub(1).min(MAX_STEPS);
    (0..steps).fold(libm::trunc(base), |delay, _| libm::trunc(delay * factor)) / base
}

fn fibonacci(k: u32) -> f64 {
    let (before, _) = (0..k.min(MAX_STEPS)).fold((0.0, 1.0), |(now, next), _| (next, now + next));
    before
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrowthName {
    Constant,
    Exponential,
    ExponentialLessOne,
    Truncated,
    Linear,
    Square,
    Quartic,
    Fibonacci,
    Decorrelated,
    Polly,
}

impl Choice for GrowthName {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("exponential", Self::Exponential),
        ("exponential-less-one", Self::ExponentialLessOne),
        ("truncated", Self::Truncated),
        ("constant", Self::Constant),
        ("linear", Self::Linear),
        ("square", Self::Square),
        ("quartic", Self::Quartic),
        ("fibonacci", Self::Fibonacci),
        ("decorrelated", Self::Decorrelated),
        ("polly", Self::Polly),
    ];
}

impl GrowthName {
    pub(crate) fn with_factor(self, factor: f64) -> Growth {
        match self {
            Self::Constant => Growth::Constant,
            Self::Exponential => Growth::Exponential(factor),
            Self::ExponentialLessOne => Growth::ExponentialLessOne(factor),
            Self::Truncated => Growth::Truncated(factor),
            Self::Linear => Growth::Linear,
            Self::Square => Growth::Square,
            Self::Quartic => Growth::Quartic,
            Self::Fibonacci => Growth::Fibonacci,
            Self::Decorrelated => Growth::Decorrelated,
            Self::Polly => Growth::Polly,
        }
    }

    pub(crate) fn has_factor(self) -> bool {
        matches!(self, Self::Exponential | Self::ExponentialLessOne | Self::Truncated)
    }
}
