//! Strategy: layers of limiters, a retry policy, budgets and a hedger, with the rules that apply to all of them.
//!
//! The inner layer decides about attempts. An outer layer retries ops that the inner layer has given up. Everything
//! that the inner layer does with an op until the op is done or given up counts as one *try* of the outer layer.

mod layer;
mod layered;
mod memory;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Draws, Purpose, Rng, draws};

use self::layer::{Layer, LayerDecision, both};
use self::memory::Memory;
use crate::hedger::{AfterFailure, Copies};
use crate::outage_backoff::OutageBackoff;
use crate::rules::Rules;
use crate::{
    Advice, Advised, AttemptEnd, Candidate, CarrierSense, Classification, FailedOp, Gauges, Instant,
    LimiterView, Outcome, Part, ResponseParser, Retry, RetryState, Status, Until,
};

pub(crate) use self::memory::MAX_LAYERS;
pub use self::memory::Permits;

/// Instance of a strategy with its state. It belongs to one client, or to several clients that share it.
pub struct Strategy {
    seed: u64,
    /// Maximum number of attempts of an op. It applies even if the limits of the layers are higher.
    max_attempts: u32,
    keeps_memory: bool,
    reports: bool,
    holds_tries: bool,
    inner: Layer,
    /// Backoff during outages. It is present only if the strategy has a limiter but no other backoff. Without it, the
    /// limiter alone would send to a dead server without pause.
    outage: Option<OutageBackoff>,
    /// Outer layers. The first one is the layer around the inner layer.
    outer: Box<[Outer]>,
    /// Number of launches that the budgets have rejected so far. This number is part of the key of the budgets' random
    /// draws. So each new launch of a rejected op gets new draws, and no op is rejected forever.
    sheds: u64,
    memory: Memory,
    reading: Arc<ResponseParser>,
}

struct Outer {
    layer: Layer,
    next_seq: u64,
    in_flight: u32,
}

/// Decision about the launch of an attempt: send it, delay it or shed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchDecision {
    /// Send the attempt. Every part has admitted and recorded it. If a [`CarrierSense`] is present, the server starts
    /// the attempt only if it has enough free capacity.
    Send(Permits, Option<CarrierSense>),
    /// Delay the launch of the attempt until a condition is met.
    Wait(Until),
    /// The launch is shed, because a budget rejected it. The driver passes this outcome to [`Strategy::on_failure`].
    Shed(Outcome),
}

/// Consequence of a failed attempt for the other attempts of its hedging round. A hedging round is an attempt together
/// with its hedged copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCopy {
    /// The hedging round has failed, even if other attempts of the round are in flight.
    Over,
    /// No further copies are sent. The attempts of the round that are in flight continue.
    NoMore,
    /// The failure has no effect: the next copy is sent at its planned instant.
    GoOn,
    /// The next copy is due after this time, and not at its planned instant.
    NextAfter(Duration),
}

impl Strategy {
    /// Creates a strategy from parts, such as a limiter and a retry policy. The parts need not be in the registry of
    /// parts. There may be at most four budgets. If there are several retry policies, only the last one is used. The
    /// same applies to hedgers.
    pub fn new(seed: u64, parts: impl IntoIterator<Item = Part>, rules: Rules) -> Self {
        Self::layered(seed, vec![(parts.into_iter().collect(), Arc::new(rules))], u32::MAX, Arc::default())
    }

    /// Creates a strategy from one to three layers, given from the innermost to the outermost.
    pub(crate) fn layered(
        seed: u64,
        layers: Vec<(Vec<Part>, Arc<Rules>)>,
        max_attempts: u32,
        reading: Arc<ResponseParser>,
    ) -> Self {
        let layers = layers.into_iter().map(|(parts, rules)| Layer::new(parts, rules));
        let layers: Vec<Layer> = layers.collect();
        let limits = layers.iter().any(|layer| !layer.limiters.is_empty());
        let backs_off = layers.iter().any(Layer::backs_off);
        let reports = layers.iter().any(Layer::reports);
        let holds = |layer: &Layer| !layer.limiters.is_empty() || !layer.budgets.is_empty();
        let holds_tries = layers.iter().skip(1).any(holds);
        let mut layers = layers.into_iter();
        let inner = layers.next().expect("a strategy has at least one layer");
        let outer: Box<[Outer]> = layers.map(|layer| Outer { layer, next_seq: 0, in_flight: 0 }).collect();
        Self {
            seed,
            max_attempts,
            keeps_memory: !outer.is_empty() || inner.rules.need_memory(),
            reports,
            holds_tries,
            inner,
            outage: (limits && !backs_off).then(OutageBackoff::new),
            outer,
            sheds: 0,
            memory: Memory::default(),
            reading,
        }
    }

    /// Decides whether the candidate may start now. After [`LaunchDecision::Send`] every part has recorded the
    /// candidate, so the driver must send it. If the attempt needs free capacity that the server does not have, the
    /// driver calls [`on_ended`](Self::on_ended) with [`Status::Deferred`], which reverts the records. `state` is the
    /// state of the op.
    #[inline]
    pub fn admit(&mut self, now: Instant, view: &LimiterView, state: &mut RetryState) -> LaunchDecision {
        if self.keeps_memory {
            return self.admit_in_layers(now, view, state);
        }
        let (wait, carrier) = self.inner.poll(now, view);
        if let Some(until) = both(wait, self.outage_wait(now), Until::and) {
            return LaunchDecision::Wait(until);
        }
        let launch = &view.candidate;
        match self.inner.ask(now, launch, admission(self.seed, self.sheds, launch)) {
            LayerDecision::Permit => {}
            LayerDecision::Wait(until) => return LaunchDecision::Wait(until),
            LayerDecision::Shed(advice) => return self.shed(advice),
        }
        let permits = self.inner.on_sent(now, view);
        if let Some(outage) = &mut self.outage {
            outage.on_sent(now, launch.seq);
        }
        LaunchDecision::Send(permits, carrier)
    }

    #[inline]
    fn outage_wait(&self, now: Instant) -> Option<Until> {
        self.outage.as_ref()?.holds(now).map(Until::At)
    }

    /// Returns whether the strategy has no part other than a retry policy and needs no memory of ops. Such a strategy
    /// admits every op at once, so the driver needs to call only [`on_failure`](Self::on_failure).
    #[inline]
    pub fn only_retries(&self) -> bool {
        !self.reports && !self.keeps_memory
    }

    /// Returns whether the window of a limiter is full with `in_flight` attempts in flight. If it is full,
    /// [`admit`](Self::admit) would make every candidate wait for an [event](Until::Event). So the driver need not call
    /// `admit` then.
    #[inline]
    pub fn is_full(&self, in_flight: u32) -> bool {
        self.inner.limiters.iter().any(|limiter| limiter.is_full(in_flight))
    }

    /// Returns whether nothing may be sent now, not even an admitted attempt that is not sent yet.
    pub fn holds_all(&self, now: Instant) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// Returns the instant before which nothing may be sent, because the server advised it. It may be in the past. `None` if no part of the
    /// strategy ever holds all attempts.
    pub fn held_until(&self) -> Option<Instant> {
        let budgets = self.inner.budgets.iter().filter_map(|budget| budget.held_until());
        budgets.chain(self.inner.limiters.iter().filter_map(|limiter| limiter.held_until())).max()
    }

    /// Holds all attempts until `at` at least, as if the server had advised it. Has no effect if no part of the strategy ever holds all
    /// attempts. It is meant for clients that keep state between processes.
    pub fn hold_until(&mut self, at: Instant) {
        self.inner.budgets.iter_mut().for_each(|budget| budget.hold_until(at));
        self.inner.limiters.iter_mut().for_each(|limiter| limiter.hold_until(at));
    }

    fn shed(&mut self, advice: Advice) -> LaunchDecision {
        self.sheds += 1;
        LaunchDecision::Shed(Outcome::advised(Status::Shed, advice))
    }

    /// Records that an op became ready, because it arrived or its backoff is over.
    pub fn on_ready(&mut self, now: Instant, candidate: &Candidate) {
        for limiter in &mut self.inner.limiters {
            limiter.on_ready(now, candidate);
        }
    }

    /// Returns whether an outer layer may throttle ops. If it returns true, the driver must send ops within a try
    /// before ops that begin a try. The reason is that ops which begin a try may wait for slots that ops within a try
    /// occupy.
    #[inline]
    pub fn holds_tries(&self) -> bool {
        self.holds_tries
    }

    /// Classifies an outcome. The driver must store the classification in the outcome before it passes the outcome to
    /// other methods of the strategy.
    #[inline]
    pub fn classify(&self, outcome: &Outcome) -> Classification {
        self.inner.rules.classify(outcome)
    }

    /// Returns the longest wait advised by a server that the strategy follows; `None` if it ignores advice.
    pub fn follows_advice_up_to(&self) -> Option<Duration> {
        let outer = self.outer.iter().map(|outer| &outer.layer);
        outer.chain([&self.inner]).filter_map(|layer| layer.rules.advice.follows_up_to()).max()
    }

    /// Returns the parser that extracts facts and advice from answers. Drivers read nothing else from answers.
    pub fn reading(&self) -> &Arc<ResponseParser> {
        &self.reading
    }

    /// Records the end of an attempt. If the attempt failed, the driver next calls [`on_failure`](Self::on_failure) for
    /// its op.
    #[inline]
    pub fn on_ended(
        &mut self,
        now: Instant,
        ended: &AttemptEnd,
        outcome: &Outcome,
        permits: &Permits,
        state: &mut RetryState,
    ) {
        let outage = self.outage.as_mut();
        let no_news = outage.is_some_and(|it| it.on_ended(now, ended.seq, outcome.status));
        let response = if no_news {
            &Outcome { advice: outcome.advice, ..Outcome::plain(Status::Cancelled) }
        } else {
            outcome
        };
        if self.keeps_memory {
            return self.on_ended_in_layers(now, ended, (response, outcome), permits, *state);
        }
        self.inner.on_ended(now, ended, (response, outcome), permits);
    }

    /// Records that no op is ready. If a limiter would admit more attempts, it then counts the client as
    /// application-limited.
    pub fn on_app_limited(&mut self, now: Instant, in_flight: u32) {
        for limiter in &mut self.inner.limiters {
            limiter.on_app_limited(now, in_flight);
        }
        for outer in &mut self.outer {
            for limiter in &mut outer.layer.limiters {
                limiter.on_app_limited(now, outer.in_flight);
            }
        }
    }

    /// Decides whether and when an op is retried after a failure. `attempts` is the number of attempts of the op sent
    /// so far.
    ///
    /// Without a retry policy, the op is ready again at once, and the limiter decides when its retry is sent.
    pub fn on_failure(
        &mut self,
        now: Instant,
        failed: &FailedOp,
        attempts: u32,
        state: &mut RetryState,
    ) -> Retry {
        let keyed = |seed, op, failures| draws(seed, Purpose::Backoff, op, failures);
        self.on_failure_drawing(now, failed, attempts, state, keyed)
    }

    /// Variant of [`on_failure`](Self::on_failure) with a custom random generator, keyed by seed, op and failures.
    pub(crate) fn on_failure_drawing<R: Rng>(
        &mut self,
        now: Instant,
        failed: &FailedOp,
        attempts: u32,
        state: &mut RetryState,
        keyed: impl Fn(u64, u64, u32) -> R,
    ) -> Retry {
        if attempts >= self.max_attempts {
            self.inner.after_failure(failed);
            return Retry::GiveUp;
        }
        if self.keeps_memory {
            return self.on_failure_in_layers(now, failed, attempts, state, keyed);
        }
        let draws = || keyed(self.seed, failed.op, failed.failures);
        self.inner.on_failure(now, failed, attempts, state, draws, None)
    }

    /// Records that an op has ended, because it succeeded, was given up, or reached its deadline. `waits` is true if a
    /// retry of the op was allowed but not sent.
    #[inline]
    pub fn on_over(&mut self, now: Instant, state: &mut RetryState, waits: bool) {
        if self.keeps_memory {
            // The stored state of the op shows the layers in which a permitted retry has not been sent.
            return self.forget(now, state);
        }
        if waits {
            self.inner.on_retry_withdrawn(now);
        }
    }

    /// Returns the earliest instant at which a timer of any part is due; `None` if no timer is set.
    #[inline]
    pub fn timer(&self) -> Option<Instant> {
        let mut first = self.inner.timer();
        for outer in &self.outer {
            first = both(first, outer.layer.timer(), Instant::min);
        }
        first
    }

    /// Runs the timers of the strategy's limiters that are due at `now`.
    pub fn on_timer(&mut self, now: Instant) {
        let outer = self.outer.iter_mut().flat_map(|outer| outer.layer.limiters.iter_mut());
        for limiter in self.inner.limiters.iter_mut().chain(outer) {
            if limiter.timer().is_some_and(|at| at <= now) {
                limiter.on_timer(now);
            }
        }
    }

    /// Returns whether any part may report gauges, now or later. Retry policies report none.
    #[inline]
    pub fn reports(&self) -> bool {
        self.reports
    }

    /// Returns the gauges of all parts of the strategy. Dashboards show these gauges.
    #[inline]
    pub fn gauges(&self) -> Gauges {
        let mut gauges = Gauges::default();
        self.inner.report(&mut gauges);
        for outer in &self.outer {
            outer.layer.report(&mut gauges);
        }
        if let Some((phase, reason)) = self.outage.as_ref().and_then(OutageBackoff::gauges) {
            gauges.explain(phase, reason);
        }
        gauges
    }

    /// Returns whether the strategy ever sends hedged copies of attempts. If it returns false, the driver need not call
    /// the other methods for copies.
    pub fn hedges(&self) -> bool {
        self.inner.hedger.is_some()
    }

    /// Records that an original attempt (not a hedged copy) was sent. Returns the copies that may follow the attempt.
    pub fn copies(&mut self, now: Instant, launch: &Candidate) -> Option<Copies> {
        self.inner.hedger.as_mut()?.on_sent(now, launch)
    }

    /// Returns whether the limits on attempts and time allow one more attempt of the op. The driver must check these
    /// limits before it calls [`admit`](Self::admit) for a hedged copy of an attempt.
    pub fn permits_copy(&self, now: Instant, arrived: Instant, attempts: u32, state: RetryState) -> bool {
        let remembered = self.memory.of(state).filter(|_| self.keeps_memory);
        let (before, since) =
            remembered.map_or((0, arrived), |op| (op.layers[0].attempts_before, op.layers[0].since));
        let rules = &self.inner.rules;
        let has_time =
            rules.max_time.is_none_or(|max| max.allow(since, now, Duration::ZERO, false).is_some());
        attempts < self.max_attempts && attempts.saturating_sub(before) < rules.max_attempts && has_time
    }

    /// Returns the consequence of a failed attempt for the other attempts of its hedging round. The driver must first
    /// report the failure to [`on_ended`](Self::on_ended). It reports the failure to [`on_failure`](Self::on_failure)
    /// only if the round is over.
    pub fn after_failed_copy(&self, failed: &FailedOp) -> AfterCopy {
        let (rules, classification) = (&self.inner.rules, failed.outcome.classification);
        let Some(after_failure) = self.inner.hedger.as_ref().map(|hedger| hedger.after_failure()) else {
            return AfterCopy::Over;
        };
        if !classification.is_retriable() || after_failure == AfterFailure::End {
            return AfterCopy::Over;
        }
        let draws = || draws(self.seed, Purpose::Backoff, failed.op, failed.failures);
        let advice = rules.advice_of(&failed.outcome);
        let advised = rules.advice.apply(advice, classification, Duration::ZERO, draws);
        match (advised, after_failure) {
            (Advised::GiveUp, _) => AfterCopy::NoMore,
            (Advised::After { delay }, _) => AfterCopy::NextAfter(delay),
            (Advised::BackOff, AfterFailure::Next) => AfterCopy::NextAfter(Duration::ZERO),
            (Advised::BackOff, _) => AfterCopy::GoOn,
        }
    }
}

/// Returns the seed for the random draws of a layer. The innermost layer uses `seed` itself, so its draws do not change
/// when outer layers are added.
fn seed_of(seed: u64, layer: usize) -> u64 {
    seed ^ (layer as u64).wrapping_mul(0xa076_1d64_78bd_642f)
}

/// Returns a function that creates the random generator of a budget. Its argument is the position of the budget in its
/// layer. Budgets draw independently of each other, and an op that was shed gets new draws.
fn admission(seed: u64, sheds: u64, launch: &Candidate) -> impl Fn(usize) -> Draws + use<> {
    let (op, attempt) = (launch.op, launch.attempt);
    move |budget| {
        let apart = (sheds << 2) | (budget as u64 & 3);
        draws(seed ^ apart.wrapping_mul(0x9e37_79b9_7f4a_7c15), Purpose::Admission, op, attempt)
    }
}

impl std::fmt::Debug for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Strategy")
            .field("limiters", &self.inner.limiters.len())
            .field("retry", &self.inner.retry.is_some())
            .field("budgets", &self.inner.budgets.len())
            .field("layers", &(1 + self.outer.len()))
            .field("sheds", &self.sheds)
            .field("remembered", &self.memory.len())
            .finish_non_exhaustive()
    }
}
