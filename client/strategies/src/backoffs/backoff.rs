//! `backoff`: a retry delay with configurable growth, spread, bounds and rounding, as in clients used in production.
//!
//! The other back-offs of this crate are special cases of `backoff`. If `backoff` computes a delay of zero, the delay
//! is intentional. So the retry follows at once even after a failed connection, although other back-offs then wait a
//! minimum time.
//!
//! Source: client libraries. The parameters in this file and the files of the module `shape` name the libraries in
//! which each property occurs.

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::{ChoiceField as _, TextField, duration_text, parameters};

use crate::delay::{LONGEST, fraction};
use crate::error::SpecError;
use crate::formula::Formula;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::shape::{
    AfterLast, Applies, Counter, DelayList, Grain, Growth, OptionalDuration, OptionalNumber, Shape, Spread,
    up_to_a_day,
};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Backoff = "backoff" {
        base: Duration = Duration::from_millis(50), "first wait, from which the later ones are computed";
        factor: f64 = 2.0, "factor from one wait to the next, for a growth that has a factor", 1.0..=1000.0;
        cap: text Cap = Cap::default(), "longest wait before any retry";
        growth: choice Growth = Growth::Exponential, "how the waits grow from retry to retry";
        start: u32 = 1, "value of k in the growth formula for the first retry", 0..=1000;
        offset: Duration = Duration::ZERO, "time added to every wait, before jitter is applied";
        first: text OptionalDuration = OptionalDuration::default(),
            "wait before the first retry, which replaces the computed one";
        delays: text DelayList = DelayList::default(), "explicit list of waits, used instead of `growth`";
        after_last: choice AfterLast = AfterLast::default(),
            "whether later retries repeat the last wait of `delays`, or the op is given up";
        formula: text Formula = Formula::default(), "formula for the wait before retry k, used instead of \
            `growth` and `spread`; u is a random number from 0 to 1, prev is the previous wait";
        spread: text Spread = Spread::default(), "kind of jitter that is applied to each wait";
        grid: Duration = Duration::ZERO,
            "step of the jitter: a wait is the shortest one plus a whole number of steps; 0 allows any wait";
        cap_applies: choice Applies = Applies::BeforeSpread,
            "whether `cap` applies before jitter, which may then exceed it, or after jitter";
        min: Duration = Duration::ZERO, "shortest wait before any retry";
        min_applies: choice Applies = Applies::AfterSpread,
            "whether `min` applies before jitter, which may then go below it, or after jitter";
        grain: choice Grain = Grain::default(),
            "final rounding of the wait; `timer` cuts it to whole ms, but waits at least 1 ms";
        counter: choice Counter = Counter::default(), "failures from which the wait is computed: those of \
            this op, or one more than those of the client's last failed op";
        throttled_base: text OptionalDuration = OptionalDuration::default(),
            "value used instead of `base` after a throttling answer";
        throttled_factor: text OptionalNumber = OptionalNumber::default(),
            "value used instead of `factor` after a throttling answer";
    }
    summary = "waits with configurable growth, jitter, limits and rounding";
    rule = "before retry k, the client waits max(min, spread(min(cap, offset + base * growth(k)))), rounded \
        as `grain` says. growth(k) is 1 (constant), factor^(k-1) (exponential), factor^k - 1 \
        (exponential-less-one), k (linear), k^2 (square), k^4 (quartic) or the k-th Fibonacci number \
        (fibonacci). With growth=truncated, each wait is the previous one times factor, cut to whole ms. \
        With growth=decorrelated, the wait is U(base, 3 * previous wait), a random time between these two. \
        With growth=polly, it is base * (x(k) - x(k-1)) / 1.4, where x(k) = 2^t * tanh(sqrt(4t)) and t = \
        k-1+u. u is a random number from 0 to 1. spread turns a wait w into w * u (full), w * (1+u)/2 \
        (equal), w * (1-j+2ju) (around|j), w * (1-ju) (below|j), w * (1+ju) (above|j), w * U(a, b) \
        (between|a|b), U(d, w) (from|d), w + U(0, d) (add|d), or w plus j * u * w without its whole seconds \
        (tower|j)";
    source = "the code of production clients: AWS SDKs, urllib3, gRPC, Envoy, Polly, tower, resilience4j, \
        Octokit and others";

    fn check(&self) -> Result<(), String> {
        let default = Self::default();
        let grows = self.growth != default.growth || self.start != default.start || !self.offset.is_zero();
        let has_factor =
            self.factor.to_bits() != default.factor.to_bits() || self.throttled_factor.0.is_some();
        let is_spread = self.spread != Spread::None
            || !self.grid.is_zero()
            || (self.cap_applies, self.min_applies) != (default.cap_applies, default.min_applies);
        let sets_wait = grows
            || has_factor
            || self.throttled_base.0.is_some()
            || self.first.0.is_some()
            || self.base != default.base;
        if sets_wait && !self.delays.0.is_empty() {
            return Err("`delays` already sets every wait: leave out `base`, `factor`, `growth`, `start`, \
                 `offset`, `first`, `throttled-base` and `throttled-factor`"
                .to_owned());
        }
        if let Some(formula) = &self.formula.0 {
            if grows || has_factor || is_spread || !self.delays.0.is_empty() {
                return Err("`formula` already sets every wait: leave out `factor`, `growth`, `start`, `offset`, `delays`, `spread`, `grid`, `cap-applies`, `min-applies` and `throttled-factor`"
                    .to_owned());
            }
            for base in [Some(self.base), self.throttled_base.0].into_iter().flatten() {
                formula
                    .check(base, self.cap.of(self.base))
                    .map_err(|why| format!("{why}; `formula` takes {}", self.formula.accepted()))?;
            }
        }
        let word = self.growth.word();
        let draws_itself = matches!(self.growth, Growth::Decorrelated | Growth::Polly);
        if draws_itself && (is_spread || self.start != default.start || !self.offset.is_zero()) {
            return Err(format!(
                "`growth={word}` is already random: leave out `spread`, `grid`, `cap-applies`, \
                 `min-applies`, `start` and `offset`"
            ));
        }
        if has_factor && !self.growth.has_factor() {
            return Err(format!(
                "`growth={word}` has no factor: leave out `factor`, or choose `growth=exponential`"
            ));
        }
        Ok(())
    }
}

impl PartConfig for Backoff {
    const KIND: PartKind = PartKind::RetryPolicy;

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        let shape = Shape {
            cap: self.cap.of(self.base),
            base: self.base,
            growth: self.growth,
            factor: self.factor,
            start: self.start,
            offset: self.offset,
            delays: self.delays.0,
            after_last: self.after_last,
            formula: self.formula.0,
            first: self.first.0,
            cap_applies: self.cap_applies,
            spread: self.spread,
            grid: self.grid,
            min: self.min,
            min_applies: self.min_applies,
            grain: self.grain,
            counter: self.counter,
            throttled_base: self.throttled_base.0,
            throttled_factor: self.throttled_factor.0,
            states_delay: true,
        };
        Ok(Part::back_off(shape))
    }

    fn doubts(&self) -> Vec<String> {
        let doubts = [
            (self.min > self.cap.of(self.base), "`min` is above `cap`, so every wait is `min`"),
            (
                !self.grid.is_zero() && self.spread == Spread::None,
                "`grid` has no effect without `spread`, because the waits are not random",
            ),
            (
                self.after_last == AfterLast::GiveUp && self.delays.0.is_empty(),
                "`after-last` has no effect without `delays`",
            ),
            (
                self.start == 0 && self.growth == Growth::Exponential,
                "`start=0` makes the first wait shorter: it is `base` divided by `factor`",
            ),
        ];
        doubts.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt.to_owned()).collect()
    }
}

/// Longest delay of a backoff, as a duration or as a multiple of the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cap {
    At(Duration),
    /// Longest delay as a multiple of the base, at most a day. Envoy's cap is ten times its base.
    Bases(f64),
    /// No configured cap. Delays are then at most a day, because no delay of any backoff is longer.
    None,
}

impl Default for Cap {
    fn default() -> Self {
        Self::At(Duration::from_secs(30))
    }
}

impl Cap {
    pub(crate) fn of(self, base: Duration) -> Duration {
        match self {
            Self::At(cap) => cap,
            Self::Bases(count) => fraction(base, count).min(LONGEST),
            Self::None => LONGEST,
        }
    }
}

impl TextField for Cap {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = match (text, text.strip_suffix('x')) {
            ("none", _) => Self::None,
            (_, Some(count)) => {
                let count = count.parse().ok().filter(|count| (1.0..=1e6).contains(count));
                Self::Bases(count.ok_or("a multiple of `base` must be from `1x` to `1000000x`")?)
            }
            (text, None) => Self::At(up_to_a_day(text)?),
        };
        Ok(())
    }

    fn show(&self) -> String {
        match self {
            Self::At(cap) => duration_text::format(*cap),
            Self::Bases(count) => format!("{count}x"),
            Self::None => "none".to_owned(),
        }
    }

    fn accepted(&self) -> &'static str {
        "a duration up to a day, a multiple of `base`, or `none` for no limit, such as `30s` or `10x` or \
         `none`"
    }
}
