//! Retry policy that computes delays from a [`Shape`].

use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Rng, nanos, unit, whole_nanos};

use crate::delay::LONGEST;
use crate::formula::{Inputs, Program};
use crate::shape::grain::Grain;
use crate::shape::growth::Growth;
use crate::shape::spread::Spread;
use crate::shape::{AfterLast, Applies, Counter, Shape};
use crate::{Classification, FailedOp, Instant, Retry, RetryPolicy, RetryState};

/// Backoff of this crate, for all settings of growth, spread and bounds. It takes 16 bytes per client.
#[derive(Clone, Debug)]
pub struct Shaped {
    rule: Arc<Rule>,
    /// Number of failures of the op that failed most recently, among all ops of this client.
    last_failures: u32,
}

#[derive(Debug)]
struct Rule {
    shape: Shape,
    curve: Curve,
    throttled: Option<Box<Curve>>,
    draws: bool,
    waits: bool,
    cap_nanos: u64,
    way: DelayPath,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DelayPath {
    /// Fast path for a delay that grows or is constant, is then capped, and is then multiplied by a random factor.
    Plain,
    /// Fast path for a delay drawn from a range that depends on the previous delay.
    Decorrelated,
    General,
}

impl DelayPath {
    fn new(shape: &Shape) -> Self {
        let is_general = shape.first.is_some()
            || shape.formula.is_some()
            || !shape.delays.is_empty()
            || !shape.min.is_zero()
            || shape.grain != Grain::None
            || shape.counter != Counter::PerOp;
        let multiplies = shape.spread.scale(0.0).is_some() && shape.grid.is_zero();
        match (shape.growth, shape.cap_applies) {
            _ if is_general => Self::General,
            (Growth::Polly, _) => Self::General,
            (Growth::Decorrelated, _) => Self::Decorrelated,
            (_, Applies::BeforeSpread) if multiplies => Self::Plain,
            _ => Self::General,
        }
    }
}

impl Shaped {
    pub(crate) fn new(mut shape: Shape) -> Self {
        shape.cap = shape.cap.min(LONGEST);
        let curve = Curve::new(&shape, shape.base, shape.factor);
        let throttled = (shape.throttled_base.is_some() || shape.throttled_factor.is_some()).then(|| {
            let base = shape.throttled_base.unwrap_or(shape.base);
            Box::new(Curve::new(&shape, base, shape.throttled_factor.unwrap_or(shape.factor)))
        });
        let draws = shape.spread != Spread::None
            || matches!(shape.growth, Growth::Decorrelated | Growth::Polly)
            || shape.formula.as_ref().is_some_and(Program::draws);
        let (waits, way, cap_nanos) = (waits(&shape), DelayPath::new(&shape), whole_nanos(shape.cap));
        let rule = Rule { shape, curve, throttled, draws, waits, cap_nanos, way };
        Self { rule: Arc::new(rule), last_failures: 0 }
    }

    pub(crate) fn anew(&self) -> Self {
        Self { rule: Arc::clone(&self.rule), last_failures: 0 }
    }
}

impl Rule {
    /// Returns the delay before retry `k`, before the final rounding. `u` is the random number of this retry. The minimum delay is applied
    /// here only if the configuration applies it before the random spread. Returns `None` if the delays are an explicit list and the list
    /// has ended.
    fn delay(&self, curve: &Curve, k: u32, u: f64, state: &mut RetryState) -> Option<Duration> {
        let shape = &self.shape;
        if let Some(formula) = &shape.formula {
            let inputs = Inputs {
                k: f64::from(k),
                u,
                base: Duration::from_nanos(curve.base).as_secs_f64(),
                cap: shape.cap.as_secs_f64(),
                prev: state.as_duration().as_secs_f64(),
            };
            let delay = formula.delay(&inputs, shape.cap);
            state.set_duration(delay);
            return Some(delay);
        }
        match shape.growth {
            Growth::Decorrelated => return Some(self.decorrelated(curve.base, u, state)),
            Growth::Polly => return Some(self.pollys(curve, k, u, state)),
            _ => {}
        }
        if !shape.delays.is_empty() {
            let end = match shape.after_last {
                AfterLast::Repeat => shape.delays.last(),
                AfterLast::GiveUp => None,
            };
            let delay = *shape.delays.get(k.saturating_sub(1) as usize).or(end)?;
            return Some(match shape.cap_applies {
                Applies::BeforeSpread => self.spread(delay.min(shape.cap), u),
                Applies::AfterSpread => self.spread(delay, u).min(shape.cap),
            });
        }
        if shape.cap_applies == Applies::BeforeSpread {
            return Some(self.spread(Duration::from_nanos(curve.at(k, self.cap_nanos)), u));
        }
        let in_one_step = shape.grid.is_zero() && shape.min_applies == Applies::AfterSpread;
        let delay = match shape.spread.scale(u) {
            Some(scale) if in_one_step => curve.scaled(k, scale),
            _ => self.spread(Duration::from_nanos(curve.at(k, u64::MAX)), u),
        };
        Some(delay.min(shape.cap))
    }

    fn spread(&self, delay: Duration, u: f64) -> Duration {
        let Shape { spread, grid, grain, min, min_applies, .. } = self.shape;
        let delay = if min_applies == Applies::BeforeSpread { delay.max(min) } else { delay };
        spread.of(delay, grid, grain, u)
    }

    /// Draws a delay from a range between the base and three times the previous delay. The state stores the previous
    /// delay in nanoseconds. The cap applies after the draw. Source: AWS, Exponential Backoff and Jitter.
    fn decorrelated(&self, base: u64, u: f64, state: &mut RetryState) -> Duration {
        let previous = if state.0 == 0 { base } else { state.0 };
        // The subtraction saturates at zero, because the width of the range would be negative if the cap is below base
        // / 3.
        let width = previous.saturating_mul(3).saturating_sub(base);
        state.0 = base.saturating_add(whole_nanos(nanos(width as f64 * u))).min(self.cap_nanos);
        Duration::from_nanos(state.0)
    }

    /// Computes Polly's jittered delay, which depends on the difference of two values `x`. The state stores the value
    /// `x` of the previous retry. Source: App-vNext/Polly `src/Polly.Core/Retry/RetryHelper.cs`.
    fn pollys(&self, curve: &Curve, k: u32, u: f64, state: &mut RetryState) -> Duration {
        // Maximum number of steps that are computed. After this many steps the delay exceeds a day for any base. With
        // fewer steps, `x` is precise enough for delays of up to a day.
        const MAX_STEPS: u32 = 62;
        let step = k.saturating_sub(1);
        if curve.base == 0 || step > MAX_STEPS {
            return if curve.base == 0 { Duration::ZERO } else { self.shape.cap };
        }
        let t = f64::from(step) + u;
        let x = libm::exp2(t) * libm::tanh((4.0 * t).sqrt());
        let before = f64::from_bits(state.0);
        state.0 = x.to_bits();
        nanos((x - before) / 1.4 * curve.base_as_f64).min(self.shape.cap)
    }

    /// Returns the delay before retry `k`, with its minimum and the final rounding; `None` if the list of delays has
    /// ended.
    fn rounded(&self, curve: &Curve, k: u32, u: f64, state: &mut RetryState) -> Option<Duration> {
        let shape = &self.shape;
        if let (Some(first), 0 | 1) = (shape.first, k) {
            return Some(shape.grain.of(first));
        }
        let delay = self.delay(curve, k, u, state)?;
        let min = if shape.min_applies == Applies::AfterSpread { shape.min } else { Duration::ZERO };
        Some(shape.grain.of(delay.max(min)))
    }
}

impl Shaped {
    #[inline]
    pub(crate) fn wait<R: Rng + ?Sized>(
        &self,
        failed: &FailedOp,
        state: &mut RetryState,
        rng: &mut R,
    ) -> Retry {
        let rule = &*self.rule;
        let curve = match &rule.throttled {
            Some(throttled) if failed.outcome.classification == Classification::Throttled => throttled,
            _ => &rule.curve,
        };
        match rule.way {
            DelayPath::Plain => {
                let longest = curve.at(failed.failures, rule.cap_nanos);
                let scale = if rule.draws { rule.shape.spread.scale(unit(rng)) } else { None };
                Retry::After(match scale {
                    Some(scale) => nanos(longest as f64 * scale),
                    None => Duration::from_nanos(longest),
                })
            }
            DelayPath::Decorrelated => Retry::After(rule.decorrelated(curve.base, unit(rng), state)),
            DelayPath::General => {
                let u = if rule.draws { unit(rng) } else { 0.0 };
                let k = match rule.shape.counter {
                    Counter::PerOp => failed.failures,
                    Counter::PerClient => self.last_failures.saturating_add(1),
                };
                rule.rounded(curve, k, u, state).map_or(Retry::GiveUp, Retry::After)
            }
        }
    }
}

fn waits(shape: &Shape) -> bool {
    // If the delays grow, the backoff counts as one that delays ops, even if its base is zero. Backoffs for which a
    // delay of zero is intentional are exempt from this rule.
    if !shape.states_delay && shape.growth != Growth::Constant {
        return true;
    }
    let spread = matches!(shape.spread, Spread::Add(most) if !most.is_zero());
    let least = shape.grain == Grain::Timer || !shape.min.is_zero();
    let own = if shape.delays.is_empty() {
        !shape.base.is_zero() || !shape.offset.is_zero()
    } else {
        shape.delays.iter().any(|delay| !delay.is_zero())
    };
    let throttled = shape.throttled_base.is_some_and(|base| !base.is_zero());
    own || spread || least || throttled || shape.formula.is_some()
}

impl RetryPolicy for Shaped {
    fn on_failure(
        &self,
        _now: Instant,
        failed: &FailedOp,
        state: &mut RetryState,
        rng: &mut dyn Rng,
    ) -> Retry {
        self.wait(failed, state, rng)
    }

    fn after_failure(&mut self, failed: &FailedOp) {
        self.last_failures = failed.failures;
    }

    fn states_delay(&self) -> bool {
        self.rule.shape.states_delay
    }

    fn backs_off(&self) -> bool {
        self.rule.waits
    }
}

/// Number of retries for which the multiple of the base is kept in a table. For later retries, the multiple is computed
/// at each use.
const TABLED: u32 = 64;

/// Growth curve of a delay. The delay before retry `k` is `offset + base · multiple(k)`. The first retry has the number
/// `start`.
#[derive(Clone, Debug)]
struct Curve {
    base: u64,
    base_as_f64: f64,
    offset_nanos: f64,
    growth: Growth,
    factor: f64,
    start: u32,
    law: CurveKind,
}

#[derive(Clone, Debug)]
enum CurveKind {
    Constant,
    Doubling,
    Tabled(Box<[f64]>),
    Reckoned,
}

impl Curve {
    /// Creates the growth curve of a shape, but with another base and factor.
    fn new(shape: &Shape, base: Duration, factor: f64) -> Self {
        let Shape { growth, start, offset, .. } = *shape;
        let base = whole_nanos(base);
        let base_as_f64 = base as f64;
        let law = match (growth, factor) {
            (Growth::Exponential, 2.0) if start == 1 && offset.is_zero() => CurveKind::Doubling,
            (Growth::Constant, _) if offset.is_zero() => CurveKind::Constant,
            _ if growth.is_slow() => {
                let multiples = (start..start + TABLED).map(|k| growth.multiple(factor, base_as_f64, k));
                CurveKind::Tabled(multiples.collect())
            }
            _ => CurveKind::Reckoned,
        };
        Self { base, base_as_f64, offset_nanos: whole_nanos(offset) as f64, growth, factor, start, law }
    }

    /// Returns the delay before retry `k`, from 1. The delay and its upper bound `cap` are in nanoseconds.
    #[inline]
    fn at(&self, k: u32, cap: u64) -> u64 {
        match self.law {
            CurveKind::Constant => self.base.min(cap),
            CurveKind::Doubling => {
                // If the multiple overflows, the delay is longer than every cap. The only exception is a base of zero.
                let factor = 1_u64.checked_shl(k.saturating_sub(1)).unwrap_or(u64::MAX);
                self.base.saturating_mul(factor).min(cap)
            }
            CurveKind::Tabled(_) | CurveKind::Reckoned => whole_nanos(self.scaled(k, 1.0)).min(cap),
        }
    }

    /// Returns `scale` times the delay before retry `k`. The product is rounded only once.
    fn scaled(&self, k: u32, scale: f64) -> Duration {
        let multiple = self.multiple(k);
        if self.offset_nanos > 0.0 {
            return nanos((self.base_as_f64 * multiple + self.offset_nanos) * scale);
        }
        nanos(self.base_as_f64 * (scale * multiple))
    }

    fn multiple(&self, k: u32) -> f64 {
        match &self.law {
            CurveKind::Doubling if k <= TABLED => Some((1_u64 << k.saturating_sub(1)) as f64),
            CurveKind::Tabled(table) => table.get(k.saturating_sub(1) as usize).copied(),
            _ => None,
        }
        .unwrap_or_else(|| {
            let k = k.saturating_add(self.start).saturating_sub(1);
            self.growth.multiple(self.factor, self.base_as_f64, k)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(base: Duration, growth: Growth, factor: f64) -> Curve {
        Curve::new(&Shape { growth, ..Shape::default() }, base, factor)
    }

    #[test]
    fn doubling_starts_at_the_base_and_saturates_at_the_cap() {
        let (ms, cap) = (Duration::from_millis(1), 30_000_000_000);
        let curve = |base| curve(base, Growth::Exponential, 2.0);
        let doubled = curve(50 * ms);
        for (k, millis) in [(0, 50), (1, 50), (2, 100), (10, 25_600), (11, 30_000), (64, 30_000)] {
            assert_eq!(doubled.at(k, cap), millis * 1_000_000, "k = {k}");
        }
        assert_eq!(doubled.at(u32::MAX, cap), cap);
        assert_eq!(curve(Duration::ZERO).at(u32::MAX, cap), 0);
        assert_eq!(curve(Duration::MAX).at(1, cap), cap);
    }

    #[test]
    fn shifting_and_powers_agree() {
        let base = Duration::from_millis(37);
        let shifted = curve(base, Growth::Exponential, 2.0);
        for k in 1..=66 {
            let power = Growth::Exponential.multiple(2.0, 37e6, k);
            assert_eq!(shifted.multiple(k).to_bits(), power.to_bits(), "k = {k}");
        }
    }

    #[test]
    fn tables_and_what_is_beyond_them_agree() {
        let base = Duration::from_millis(1);
        for (growth, factor) in
            [(Growth::Exponential, 1.1), (Growth::Fibonacci, 2.0), (Growth::Truncated, 1.5)]
        {
            let curve = curve(base, growth, factor);
            for k in [1, 2, 63, 64, 65, 100] {
                assert_eq!(
                    curve.multiple(k).to_bits(),
                    growth.multiple(factor, 1e6, k).to_bits(),
                    "{growth:?}, k = {k}"
                );
            }
        }
    }
}
