//! Growth of delays from retry to retry.

use libm::pow;
use vocabulary::choices;

choices! {
    /// Rule that computes a delay from the number `k` of the retry. The first retry has `k` = 1, unless the parameter
    /// `start` sets another number.
    pub(crate) enum Growth {
        Exponential = "exponential",
        /// Delay of `base · (factor^k − 1)`, as in azcore of Go and older versions of Envoy.
        ExponentialLessOne = "exponential-less-one",
        /// Delay of `factor` times the previous delay, truncated to whole milliseconds at every step, as in resilience4j.
        Truncated = "truncated",
        Constant = "constant",
        Linear = "linear",
        Square = "square",
        /// Delay of `base · k⁴` before the retry with number `k`, as in Sidekiq.
        Quartic = "quartic",
        Fibonacci = "fibonacci",
        /// Delay drawn uniformly between `base` and three times the previous delay (AWS, Exponential Backoff and Jitter).
        Decorrelated = "decorrelated",
        /// Delay of `base · (x(k) − x(k−1)) / 1.4` with `x(k) = 2^t · tanh(√(4t))`, `t = k − 1 + u`: Polly's decorrelated
        /// jitter v2.
        Polly = "polly",
    }
}

impl Growth {
    /// Returns the delay before retry `k` as a multiple of the base, at least zero. For growth rules with random draws,
    /// the result is always 1. `factor` is used only if the growth has a factor.
    pub(crate) fn multiple(self, factor: f64, base_nanos: f64, k: u32) -> f64 {
        let count = f64::from(k);
        let multiple = match self {
            Self::Constant | Self::Decorrelated | Self::Polly => 1.0,
            Self::Exponential => pow(factor, count - 1.0),
            Self::ExponentialLessOne => pow(factor, count) - 1.0,
            Self::Truncated => truncated(base_nanos, factor, k),
            Self::Linear => count,
            Self::Square => count * count,
            Self::Quartic => count * count * count * count,
            Self::Fibonacci => fibonacci(k),
        };
        multiple.max(0.0)
    }

    pub(crate) fn has_factor(self) -> bool {
        matches!(self, Self::Exponential | Self::ExponentialLessOne | Self::Truncated)
    }

    pub(crate) fn is_slow(self) -> bool {
        self.has_factor() || self == Self::Fibonacci
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
