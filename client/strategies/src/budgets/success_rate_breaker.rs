//! `success-rate-breaker`: opens at a low success rate or after consecutive failures, and then sends nothing for a
//! while. One probe then decides whether it closes.
//!
//! Source: twitter/finagle
//! `finagle-core/src/main/scala/com/twitter/finagle/liveness/{FailureAccrualPolicy,FailureAccrualFactory}.scala`,
//! `util/Ema.scala`, `Backoff.scala`. This breaker follows Finagle's hybrid policy and has its defaults. The breaker of
//! linkerd/linkerd2-proxy `linkerd/app/outbound/src/http/breaker/{unified,success_rate}.rs` corresponds to the options
//! `average=exact,window=10s,in-a-row=7,row-of=transient,open=1s,cap=1m,spread=above`.
//!
//! As in both sources, the outcome of an attempt counts for the phase in which the attempt ends. While a probe is in
//! flight, the first attempt that ends decides, even if it is not the probe.
//!
//! In both sources, a breaker marks one of many endpoints as dead. In this crate a client has only one endpoint. So
//! launches wait until the breaker admits them, unless `when-open` sets another reaction.

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::{DAY, Purpose, Rng, choices, draws, parameters, unit};

use super::deposits::Bucket as _;
use super::phase::{Phase, WhenOpen};
use super::refusal::was_accepted;
use super::slices::Slices;
use super::tally::Counts;
use super::windowed_adder::WindowedAdder;
use crate::delay::{fraction, grown};
use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::{
    AttemptEnd, Budget, BudgetDecision, Candidate, Classification, Gauges, Instant, Outcome, Permit,
};

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum RowOf {
        Any = "any",
        Transient = "transient",
    }
}

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct SuccessRateBreaker = "success-rate-breaker" {
        success: f64 = 0.8, "success rate below which the breaker opens; 0 turns this rule off", 0.0..=1.0;
        average: choice Average = Average::Moving,
            "how the success rate is averaged: weighted by age (`moving`), or over a fixed window (`exact`)";
        window: Duration = Duration::from_secs(30),
            "time for which an attempt counts for the success rate",
            Duration::from_millis(10)..=Duration::from_hours(1);
        calls: u32 = 0,
            "number of attempts for which an attempt counts, instead of a time; 0 uses `window`",
            0..=1_000_000;
        least: u32 = 5,
            "minimum number of attempts in the window; with fewer, the success rate is ignored",
            0..=1_000_000;
        in_a_row: u32 = 5,
            "number of consecutive failures that also open the breaker; 0 turns this rule off", 0..=1_000_000;
        row_of: choice RowOf = RowOf::Any,
            "which consecutive failures count: any, or all but throttled ones (`transient`)";
        open: Duration = Duration::from_secs(5),
            "time for which the breaker stays open before the first probe", Duration::from_millis(1)..=DAY;
        cap: Duration = Duration::from_mins(5),
            "longest time for which the breaker stays open before a probe", Duration::from_millis(1)..=DAY;
        spread: choice Spread = Spread::Equal, "random part of the open time: none, half of it except the \
            first time, or up to half of it in addition";
        when_open: choice WhenOpen = WhenOpen::Wait,
            "whether refused launches end their ops, back off as after a failure, or wait";
    }
    summary = "circuit breaker: opens when too few attempts succeed";
    rule = "the breaker is closed at first. A failure opens it if the success rate is below `success`, \
        measured for at least `window` (or `calls`) and over at least `least` attempts, or if it is the \
        `in-a-row`-th consecutive failure. With average=moving, each end of an attempt sets rate = ok * (1 - \
        w) + rate * w, where ok is 1 or 0 and w = exp(-age / window). With average=exact, rate = successes / \
        attempts in the last `window`. While open, the breaker admits nothing for min(cap, open * 2^(k-1)), \
        partly random by `spread`, where k counts consecutive openings. Then it admits one probe. If the \
        probe succeeds, the breaker closes. If it fails, the breaker opens again or, if the rate is high \
        enough, admits another probe";
    source = "twitter/finagle FailureAccrualPolicy.scala, FailureAccrualFactory.scala; \
        linkerd/linkerd2-proxy breaker/unified.rs, success_rate.rs";

    fn check(&self) -> Result<(), String> {
        if self.calls > 0 && self.average == Average::Exact {
            return Err(
                "`calls` needs `average=moving`, because `average=exact` counts over a time; leave one of \
                 the two out"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl PartConfig for SuccessRateBreaker {
    const KIND: PartKind = PartKind::Budget;

    fn build(self, context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::Budget(Box::new(Breaker::new(self, context.seed))))
    }

    fn doubts(&self) -> Vec<String> {
        if self.success <= 0.0 && self.in_a_row == 0 {
            return vec![
                "with both `success=0` and `in-a-row=0` the breaker never opens; leave one of them out"
                    .to_owned(),
            ];
        }
        Vec::new()
    }
}

struct Breaker {
    config: SuccessRateBreaker,
    rate: Rate,
    row: u32,
    /// Two sequences of durations for which the breaker stays open. The first is for openings caused by the success
    /// rate, the second for openings caused by consecutive failures.
    penalties: [Penalties; 2],
    phase: Phase,
    /// Number of probes that the circuit breaker has admitted so far. Each probe receives its number, from 1, as its
    /// permit; other attempts receive 0. If an attempt is cancelled, its permit shows whether it was the current probe.
    probes: u32,
    reason: &'static str,
}

impl Breaker {
    fn new(config: SuccessRateBreaker, seed: u64) -> Self {
        let penalties =
            [0, 1].map(|which| Penalties::new(config.open, config.cap, config.spread, seed, which));
        let rate = Rate::new(config.average, config.window, config.calls);
        Self { config, rate, row: 0, penalties, phase: Phase::Closed, probes: 0, reason: "started" }
    }

    fn change(&mut self, phase: Phase, reason: &'static str) {
        self.phase = phase;
        self.reason = reason;
    }

    fn on_success(&mut self, now: Instant) {
        if self.phase == (Phase::HalfOpen { left: 0 }) {
            self.rate.forget(now);
            self.penalties.iter_mut().for_each(|penalties| penalties.row = 0);
            self.change(Phase::Closed, "the probe succeeded");
        }
        self.row = 0;
        let is_low = self.is_low(now, true);
        // With `average=exact`, the success rate may fall even when an attempt succeeds, because older successes leave
        // the window at the same time.
        if is_low && self.config.average == Average::Exact && self.phase == Phase::Closed {
            self.open(now, 0, [true, false]);
        }
    }

    fn on_failure(&mut self, now: Instant, op: u64, classification: Classification) {
        let is_probe = match self.phase {
            Phase::Closed => false,
            Phase::HalfOpen { left: 0 } => true,
            // The breaker is open, or waits for the next probe. So the failed attempt was sent before the breaker
            // opened, and its failure shows nothing new.
            Phase::Open { .. } | Phase::HalfOpen { .. } => return,
        };
        if self.config.row_of == RowOf::Any || classification != Classification::Throttled {
            self.row = self.row.saturating_add(1);
        } else {
            // As in linkerd, an answer that means throttling interrupts the sequence of consecutive failures.
            self.row = 0;
        }
        let is_low = self.is_low(now, false);
        let in_a_row = self.config.in_a_row > 0 && self.row >= self.config.in_a_row;
        match (self.config.average, is_low || in_a_row) {
            // linkerd has a single sequence of opening durations, so a failed probe continues that sequence. This code
            // uses the first sequence for it.
            (Average::Exact, breaks) if breaks || is_probe => self.open(now, op, [true, false]),
            (Average::Moving, true) => self.open(now, op, [is_low, in_a_row]),
            (Average::Moving, false) if is_probe => {
                self.change(Phase::HalfOpen { left: 1 }, "the probe failed, but the rate is high");
            }
            _ => {}
        }
    }

    fn is_low(&mut self, now: Instant, succeeded: bool) -> bool {
        let rate = self.rate.count(now, succeeded);
        rate < self.config.success && self.rate.has_measured(now, self.config.least)
    }

    /// Opens the breaker. There are two sequences of opening durations: one for a low success rate, and one for
    /// consecutive failures. `by` selects one or both of them. The breaker stays open for the longest of the next
    /// durations of the selected sequences.
    fn open(&mut self, now: Instant, op: u64, by: [bool; 2]) {
        let penalties = self.penalties.iter_mut().zip(by).filter(|(_, counts)| *counts);
        let longest = penalties.map(|(penalties, _)| penalties.next(op)).max().unwrap_or_default();
        let reason = match (self.phase, by) {
            (Phase::HalfOpen { .. }, _) => "the probe failed",
            (_, [_, true]) => "too many failures in a row",
            _ => "too few successes",
        };
        self.change(Phase::Open { until: now + longest }, reason);
    }
}

impl Budget for Breaker {
    fn ask(&self, now: Instant, _launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        self.config.when_open.gate(self.phase, now)
    }

    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Permit {
        if self.phase != Phase::Closed {
            self.change(Phase::HalfOpen { left: 0 }, "a probe is in flight");
            self.probes = self.probes.wrapping_add(1).max(1);
            return Permit(self.probes);
        }
        Permit::default()
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        match was_accepted(outcome) {
            Some(true) => self.on_success(now),
            Some(false) => self.on_failure(now, ended.op, outcome.classification),
            None if permit == Permit(self.probes) && self.phase == (Phase::HalfOpen { left: 0 }) => {
                self.change(Phase::HalfOpen { left: 1 }, "the probe was inconclusive");
            }
            None => {}
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        self.phase.show(self.reason, gauges);
    }
}

// Duration for which a circuit breaker stays open. It doubles at each consecutive opening and is partly random.
//
// Source: twitter/finagle `Backoff.scala`, `EqualJittered`; linkerd/linkerd2-proxy `linkerd/exp-backoff/src/lib.rs`
// with a jitter of 0.5, the value that linkerd's circuit breaker uses.

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Spread {
        None = "none",
        /// Half of the duration is random, as in Finagle. The duration of the first opening is not random.
        Equal = "equal",
        /// A random time of up to half the duration is added to the duration, as in linkerd.
        Above = "above",
    }
}

#[derive(Debug)]
struct Penalties {
    open: Duration,
    cap: Duration,
    spread: Spread,
    seed: u64,
    /// Index of this sequence of durations among the sequences of its breaker. It is part of the key of the sequence's
    /// random draws.
    which: u32,
    /// Number of openings whose duration came from this sequence. `row` counts the consecutive ones since the breaker
    /// last closed, and `all` counts all of them.
    row: u32,
    all: u32,
}

impl Penalties {
    fn new(open: Duration, cap: Duration, spread: Spread, seed: u64, which: u32) -> Self {
        Self { open, cap, spread, seed, which, row: 0, all: 0 }
    }

    /// Returns the duration of the next opening of the breaker. `op` is part of the key of the random draw. It is the
    /// op whose failure caused the opening, or 0 if a success caused it.
    fn next(&mut self, op: u64) -> Duration {
        let draw = unit(&mut draws(self.seed, Purpose::Probe, op, self.all.wrapping_mul(2) + self.which));
        let time = self.drawn(draw);
        self.row = self.row.saturating_add(1);
        self.all = self.all.wrapping_add(1);
        time
    }

    fn drawn(&self, draw: f64) -> Duration {
        let whole = grown(self.open, 1.0, 2.0, self.row, self.cap);
        match self.spread {
            Spread::Equal if self.row > 0 => {
                let half = grown(self.open, 1.0, 2.0, self.row - 1, self.cap);
                half.saturating_add(fraction(half, draw)).min(self.cap)
            }
            Spread::Above => whole.saturating_add(fraction(whole, 0.5 * draw)).min(self.cap),
            Spread::None | Spread::Equal => whole,
        }
    }
}

// Success rate of a breaker: a moving average, or the exact share within a window.
//
// Source: twitter/finagle `util/Ema.scala` and `liveness/FailureAccrualPolicy.scala`; linkerd/linkerd2-proxy
// `linkerd/app/outbound/src/http/breaker/success_rate.rs`.

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Average {
        /// Average in which attempts are weighted by their age, as in Finagle.
        Moving = "moving",
        /// Average in which all attempts within the window have equal weight, as in linkerd.
        Exact = "exact",
    }
}

#[derive(Debug)]
enum Rate {
    Moving(Moving),
    Exact(Slices<Counts, 10>),
}

#[derive(Debug)]
struct Moving {
    /// Length of the window in milliseconds, or in attempts if `by_calls` is true.
    window: u64,
    by_calls: bool,
    began: Instant,
    calls: u64,
    /// First the time of the last attempt, in the unit of `window`; then the average success rate at that time.
    last: Option<(u64, f64)>,
    recent: WindowedAdder<4>,
}

impl Rate {
    fn new(average: Average, window: Duration, calls: u32) -> Self {
        match average {
            Average::Exact => Self::Exact(Slices::over(window)),
            Average::Moving => Self::Moving(Moving {
                window: if calls > 0 { calls.into() } else { millis(window) },
                by_calls: calls > 0,
                began: Instant::ORIGIN,
                calls: 0,
                last: None,
                recent: WindowedAdder::over(window),
            }),
        }
    }

    fn count(&mut self, now: Instant, succeeded: bool) -> f64 {
        match self {
            Self::Moving(moving) => moving.count(now, succeeded),
            Self::Exact(slices) => {
                slices.at(now).count(succeeded);
                let Counts { requests, accepted } = sum(slices, now);
                accepted as f64 / requests as f64
            }
        }
    }

    /// Returns whether enough attempts have ended for the success rate to be used. With `average=moving`, a whole
    /// window must have passed. If the window is a time, there must also be at least `least` recent attempts. With
    /// `average=exact`, at least `least` attempts in the window are enough.
    fn has_measured(&mut self, now: Instant, least: u32) -> bool {
        match self {
            Self::Moving(moving) => {
                let stamp = moving.last.map_or(0, |(stamp, _)| stamp);
                moving.recent.expire(now);
                stamp >= moving.window && (moving.by_calls || moving.recent.sum() >= i64::from(least))
            }
            Self::Exact(slices) => sum(slices, now).requests >= least.into(),
        }
    }

    fn forget(&mut self, now: Instant) {
        match self {
            Self::Moving(moving) => {
                (moving.began, moving.calls, moving.last) = (now, 0, None);
                moving.recent.restart(now);
            }
            Self::Exact(slices) => slices.restart(now),
        }
    }
}

impl Moving {
    fn count(&mut self, now: Instant, succeeded: bool) -> f64 {
        self.calls += 1;
        self.recent.expire(now);
        self.recent.add(1);
        let stamp = if self.by_calls { self.calls } else { millis(now.since(self.began)) };
        let value = f64::from(u8::from(succeeded));
        let average = match self.last {
            None => value,
            Some((before, average)) => {
                let kept = libm::exp(-(stamp.saturating_sub(before) as f64) / self.window as f64);
                value * (1.0 - kept) + average * kept
            }
        };
        self.last = Some((self.last.map_or(stamp, |(before, _)| stamp.max(before)), average));
        average
    }
}

fn sum(slices: &Slices<Counts, 10>, now: Instant) -> Counts {
    slices.before(now).fold(Counts::default(), |sum, counts| Counts {
        requests: sum.requests + counts.requests,
        accepted: sum.accepted + counts.accepted,
    })
}

/// Truncates a duration to whole milliseconds, the resolution of JVM clocks.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
