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
        let curve = Curve::new(shape.base, shape.offset, shape.growth, shape.start);
        let throttled = (shape.throttled_base.is_some() || shape.throttled_factor.is_some()).then(|| {
            let base = shape.throttled_base.unwrap_or(shape.base);
            let growth =
                shape.throttled_factor.map_or(shape.growth, |factor| shape.growth.with_factor(factor));
            Box::new(Curve::new(base, shape.offset, growth, shape.start))
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
            return Some(self.reckoned(formula, curve, k, u, state));
        }
        match shape.growth {
            Growth::Decorrelated => return Some(self.decorrelated(curve.base_nanos(), u, state)),
            Growth::Polly => return Some(self.pollys(curve.base(), k, u, state)),
            _ => {}
        }
        if !shape.delays.is_empty() {
            let delay = self.listed(k)?;
            return Some(match shape.cap_applies {
                Applies::BeforeSpread => self.spread(delay.min(shape.cap), u),
                Applies::AfterSpread => self.spread(delay, u).min(shape.cap),
            });
        }
        if shape.cap_applies == Applies::BeforeSpread {
            return Some(self.spread(self.grown(curve, k), u));
        }
        let in_one_step = shape.grid.is_zero() && shape.min_applies == Applies::AfterSpread;
        let delay = match shape.spread.scale(u) {
            Some(scale) if in_one_step => curve.scaled(k, scale),
            _ => self.spread(Duration::from_nanos(curve.at(k, u64::MAX)), u),
        };
        Some(delay.min(shape.cap))
    }

    fn grown(&self, curve: &Curve, k: u32) -> Duration {
        Duration::from_nanos(curve.at(k, self.cap_nanos))
    }

    fn spread(&self, delay: Duration, u: f64) -> Duration {
        let Shape { spread, grid, grain, min, min_applies, .. } = self.shape;
        let delay = if min_applies == Applies::BeforeSpread { delay.max(min) } else { delay };
        spread.of(delay, grid, grain, u)
    }

    fn listed(&self, k: u32) -> Option<Duration> {
        let delays = &self.shape.delays;
        let end = match self.shape.after_last {
            AfterLast::Repeat => delays.last(),
            AfterLast::GiveUp => None,
        };
        delays.get(k.saturating_sub(1) as usize).or(end).copied()
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
    fn pollys(&self, base: Duration, k: u32, u: f64, state: &mut RetryState) -> Duration {
        // Maximum number of steps that are computed. After this many steps the delay exceeds a day for any base. With
        // fewer steps, `x` is precise enough for delays of up to a day.
        const MAX_STEPS: u32 = 62;
        let step = k.saturating_sub(1);
        if base.is_zero() || step > MAX_STEPS {
            return if base.is_zero() { Duration::ZERO } else { self.shape.cap };
        }
        let t = f64::from(step) + u;
        let x = libm::exp2(t) * libm::tanh((4.0 * t).sqrt());
        let before = f64::from_bits(state.0);
        state.0 = x.to_bits();
        nanos((x - before) / 1.4 * whole_nanos(base) as f64).min(self.shape.cap)
    }

    fn reckoned(&self, formula: &Program, curve: &Curve, k: u32, u: f64, state: &mut RetryState) -> Duration {
        let inputs = Inputs {
            k: f64::from(k),
            u,
            base: curve.base().as_secs_f64(),
            cap: self.shape.cap.as_secs_f64(),
            prev: state.as_duration().as_secs_f64(),
        };
        let delay = formula.delay(&inputs, self.shape.cap);
        state.set_duration(delay);
        delay
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
        self.rule.wait(failed, self.last_failures, state, rng)
    }
}

impl Rule {
    #[inline]
    fn wait<R: Rng + ?Sized>(
        &self,
        failed: &FailedOp,
        last_failures: u32,
        state: &mut RetryState,
        rng: &mut R,
    ) -> Retry {
        let curve = match &self.throttled {
            Some(throttled) if failed.outcome.classification == Classification::Throttled => throttled,
            _ => &self.curve,
        };
        match self.way {
            DelayPath::Plain => {
                let longest = curve.at(failed.failures, self.cap_nanos);
                let scale = if self.draws { self.shape.spread.scale(unit(rng)) } else { None };
                Retry::After(match scale {
                    Some(scale) => nanos(longest as f64 * scale),
                    None => Duration::from_nanos(longest),
                })
            }
            DelayPath::Decorrelated => Retry::After(self.decorrelated(curve.base_nanos(), unit(rng), state)),
            DelayPath::General => {
                let u = if self.draws { unit(rng) } else { 0.0 };
                self.general(failed, last_failures, curve, u, state)
            }
        }
    }

    fn general(
        &self,
        failed: &FailedOp,
        last_failures: u32,
        curve: &Curve,
        u: f64,
        state: &mut RetryState,
    ) -> Retry {
        let shape = &self.shape;
        let k = match shape.counter {
            Counter::PerOp => failed.failures,
            Counter::PerClient => last_failures.saturating_add(1),
        };
        if let (Some(first), 0 | 1) = (shape.first, k) {
            return Retry::After(shape.grain.of(first));
        }
        match self.delay(curve, k, u, state) {
            Some(delay) => {
                let min = if shape.min_applies == Applies::AfterSpread { shape.min } else { Duration::ZERO };
                Retry::After(shape.grain.of(delay.max(min)))
            }
            None => Retry::GiveUp,
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
pub(crate) struct Curve {
    base: u64,
    base_as_f64: f64,
    offset_nanos: f64,
    growth: Growth,
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
    pub(crate) fn new(base: Duration, offset: Duration, growth: Growth, start: u32) -> Self {
        let base_as_f64 = whole_nanos(base) as f64;
        let law = match growth {
            _ if growth == Growth::Exponential(2.0) && start == 1 && offset.is_zero() => CurveKind::Doubling,
            Growth::Constant if offset.is_zero() => CurveKind::Constant,
            _ if growth.is_slow() => {
                CurveKind::Tabled((start..start + TABLED).map(|k| growth.multiple(base_as_f64, k)).collect())
            }
            _ => CurveKind::Reckoned,
        };
        let offset_nanos = whole_nanos(offset) as f64;
        let base = whole_nanos(base);
        Self { base, base_as_f64, offset_nanos, growth, start, law }
    }

    pub(crate) fn base(&self) -> Duration {
        Duration::from_nanos(self.base)
    }

    pub(crate) fn base_nanos(&self) -> u64 {
        self.base
    }

    /// Returns the delay before retry `k`, from 1. The delay and its upper bound `cap` are in nanoseconds.
    #[inline]
    pub(crate) fn at(&self, k: u32, cap: u64) -> u64 {
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
    pub(crate) fn scaled(&self, k: u32, scale: f64) -> Duration {
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
            self.growth.multiple(self.base_as_f64, k.saturating_add(self.start).saturating_sub(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_starts_at_the_base_and_saturates_at_the_cap() {
        let (ms, cap) = (Duration::from_millis(1), 30_000_000_000);
        let curve = |base| Curve::new(base, Duration::ZERO, Growth::Exponential(2.0), 1);
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
        let shifted = Curve::new(base, Duration::ZERO, Growth::Exponential(2.0), 1);
        for k in 1..=66 {
            let power = Growth::Exponential(2.0).multiple(37e6, k);
            assert_eq!(shifted.multiple(k).to_bits(), power.to_bits(), "k = {k}");
        }
    }

    #[test]
    fn tables_and_what_is_beyond_them_agree() {
        let base = Duration::from_millis(1);
        for growth in [Growth::Exponential(1.1), Growth::Fibonacci, Growth::Truncated(1.5)] {
            let curve = Curve::new(base, Duration::ZERO, growth, 1);
            for k in [1, 2, 63, 64, 65, 100] {
                assert_eq!(
                    curve.multiple(k).to_bits(),
                    growth.multiple(1e6, k).to_bits(),
                    "{growth:?}, k = {k}"
                );
            }
        }
    }
}
