//! The composition: limiters × retry policy × budgets × hedger in layers, and the rules that hold for all of them.
//!
//! The inner layer acts on attempts. A layer around it takes all that the inner one does with an op, until that is done or
//! gives up, for one *try*: a retry around a retry.

mod hedging;
mod layer;
mod layered;
mod memory;
mod policy;

use std::sync::Arc;

use vocabulary::{Draws, Purpose, Rng, draws};

use self::layer::{Asked, Layer};
use self::memory::Memory;
use crate::rules::Rules;
use crate::standstill::Standstill;
use crate::{
    Advice, Carrier, Ended, FailedOp, Gauges, Instant, Launch, Opinion, Outcome, Part, Reading, Retry,
    RetryState, Status, Until, View,
};

pub use self::hedging::AfterCopy;
pub(crate) use self::memory::MAX_LAYERS;
pub use self::memory::Permits;

/// A running strategy of one client (or of several that share it).
pub struct Strategy {
    seed: u64,
    /// Attempts after which an op is given up, whatever the layers say.
    max_attempts: u32,
    keeps_memory: bool,
    /// Whether any of its parts has anything to report.
    reports: bool,
    /// Whether an outer layer may hold ops back: those that are in the middle of a try hold what others wait for.
    holds_tries: bool,
    /// What acts on attempts.
    inner: Layer,
    /// Of a limiter without a back-off of its own, which would else spin on a server that is not there.
    standstill: Option<Standstill>,
    /// What is around it, from the inside to the outside.
    outer: Box<[Outer]>,
    /// Launches shed so far: what a budget draws changes with each, so that no op is unlucky for ever.
    sheds: u64,
    /// Of ops that need more than a retry policy's own eight bytes.
    memory: Memory,
    /// What it wants to know of answers.
    reading: Arc<Reading>,
}

/// A layer around others, and what it has under way.
struct Outer {
    layer: Layer,
    next_seq: u64,
    in_flight: u32,
}

/// What becomes of the launch that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send it: every part agreed and has taken note. With a carrier the server starts it only when that is free.
    Send(Permits, Option<Carrier>),
    /// Hold it.
    Wait(Until),
    /// A budget refused it: pass this outcome to [`Strategy::on_failure`].
    Shed(Outcome),
}

impl Strategy {
    /// Puts started parts together, which need be in no registry: at most four budgets; of several retry policies
    /// or hedgers the last counts.
    pub fn new(seed: u64, parts: impl IntoIterator<Item = Part>, rules: Rules) -> Self {
        Self::layered(seed, vec![(parts.into_iter().collect(), Arc::new(rules))], u32::MAX, Arc::default())
    }

    /// Puts layers together, the inner first: one to three.
    pub(crate) fn layered(
        seed: u64,
        layers: Vec<(Vec<Part>, Arc<Rules>)>,
        max_attempts: u32,
        reading: Arc<Reading>,
    ) -> Self {
        let mut layers = layers.into_iter().map(|(parts, rules)| Layer::new(parts, rules));
        let inner = layers.next().unwrap_or_else(|| Layer::new([], Arc::default()));
        let outer: Box<[Outer]> = layers.map(|layer| Outer { layer, next_seq: 0, in_flight: 0 }).collect();
        let limits = !inner.limiters.is_empty() || outer.iter().any(|outer| !outer.layer.limiters.is_empty());
        let backs_off = inner.backs_off() || outer.iter().any(|outer| outer.layer.backs_off());
        let standstill = (limits && !backs_off).then(Standstill::new);
        let keeps_memory = !outer.is_empty() || inner.rules.need_memory();
        let memory = Memory::default();
        let holds = |outer: &Outer| !outer.layer.limiters.is_empty() || !outer.layer.budgets.is_empty();
        let holds_tries = outer.iter().any(holds);
        let reports = inner.reports() || outer.iter().any(|outer| outer.layer.reports());
        Self {
            seed,
            max_attempts,
            keeps_memory,
            reports,
            holds_tries,
            inner,
            standstill,
            outer,
            sheds: 0,
            memory,
            reading,
        }
    }

    /// May the candidate start now? On [`Verdict::Send`] every part has committed: send it. When the server then finds
    /// too little free, [`on_ended`](Self::on_ended) with [`Status::Deferred`] takes that back. `state` is the op's.
    #[inline]
    pub fn admit(&mut self, now: Instant, view: &View, state: &mut RetryState) -> Verdict {
        if self.keeps_memory {
            return self.admit_in_layers(now, view, state);
        }
        let (mut wait, carrier) = self.inner.poll(now, view);
        if let Some(until) = self.standstill.as_ref().and_then(|standstill| standstill.holds(now)) {
            wait = Some(wait.map_or(Until::At(until), |other| other.and(Until::At(until))));
        }
        if let Some(until) = wait {
            return Verdict::Wait(until);
        }
        let launch = &view.candidate;
        match self.inner.ask(now, launch, admission(self.seed, self.sheds, launch)) {
            Asked::Permit => {}
            Asked::Wait(until) => return Verdict::Wait(until),
            Asked::Shed(advice) => return self.shed(advice),
        }
        let permits = self.inner.on_sent(now, view);
        if let Some(standstill) = &mut self.standstill {
            standstill.on_sent(now, launch.seq);
        }
        Verdict::Send(permits, carrier)
    }

    /// Whether it lets every op go at once, and asks nothing of attempts but how they failed: it is a retry policy, or nothing, and
    /// only [`on_failure`](Self::on_failure) need be called.
    #[inline]
    pub fn only_retries(&self) -> bool {
        !self.reports && !self.keeps_memory
    }

    /// Whether so many are in flight that [`admit`](Self::admit) has every candidate wait for an [event](Until::Event): then that need not
    /// be asked.
    #[inline]
    pub fn is_full(&self, in_flight: u32) -> bool {
        self.inner.limiters.iter().any(|limiter| limiter.is_full(in_flight))
    }

    fn shed(&mut self, advice: Advice) -> Verdict {
        self.sheds += 1;
        Verdict::Shed(Outcome::advised(Status::Shed, advice))
    }

    /// An op became ready: it arrived, or its back-off is over.
    pub fn on_ready(&mut self, now: Instant, candidate: &Launch) {
        for limiter in &mut self.inner.limiters {
            limiter.on_ready(now, candidate);
        }
    }

    /// Whether an outer layer may hold ops back: then those that are in the middle of a try go before those that begin one,
    /// which may wait for what they hold.
    #[inline]
    pub fn holds_tries(&self) -> bool {
        self.holds_tries
    }

    /// What it makes of an outcome: the driver writes it into the outcome before any of the calls below.
    #[inline]
    pub fn opinion(&self, outcome: &Outcome) -> Opinion {
        self.inner.rules.opinion(outcome)
    }

    /// What it wants to know of answers: drivers read that, and nothing else.
    pub fn reading(&self) -> &Arc<Reading> {
        &self.reading
    }

    /// An attempt ended; its op, if it failed, goes to [`on_failure`](Self::on_failure) next.
    #[inline]
    pub fn on_ended(
        &mut self,
        now: Instant,
        ended: &Ended,
        outcome: &Outcome,
        permits: &Permits,
        state: &mut RetryState,
    ) {
        let standstill = self.standstill.as_mut();
        let no_news = standstill.is_some_and(|it| it.on_ended(now, ended.seq, outcome.status));
        let heard = if no_news { &const { Outcome::plain(Status::Cancelled) } } else { outcome };
        if self.keeps_memory {
            return self.on_ended_in_layers(now, ended, (heard, outcome), permits, *state);
        }
        self.inner.on_ended(now, ended, (heard, outcome), permits);
    }

    /// Nothing waits although more could be sent.
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

    /// What becomes of an op whose try failed; `attempts` are those on the wire so far.
    ///
    /// Without a retry policy an op is ready again at once, and the limiter paces it.
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

    /// [`on_failure`](Self::on_failure) with draws from elsewhere, keyed by seed, op and failures.
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

    /// An op is over, however: done, given up, or at its deadline. `waits` says that a retry of it was allowed and has not
    /// been sent.
    #[inline]
    pub fn on_over(&mut self, now: Instant, state: &mut RetryState, waits: bool) {
        if self.keeps_memory {
            // Which of the layers wait, is remembered.
            return self.forget(now, state);
        }
        if waits {
            self.inner.on_retry_withdrawn(now);
        }
    }

    /// The earliest timer of any part.
    #[inline]
    pub fn timer(&self) -> Option<Instant> {
        let mut first = self.inner.timer();
        for outer in &self.outer {
            first = [first, outer.layer.timer()].into_iter().flatten().min();
        }
        first
    }

    /// The instant of [`timer`](Self::timer) has come.
    pub fn on_timer(&mut self, now: Instant) {
        let outer = self.outer.iter_mut().flat_map(|outer| outer.layer.limiters.iter_mut());
        for limiter in self.inner.limiters.iter_mut().chain(outer) {
            if limiter.timer().is_some_and(|at| at <= now) {
                limiter.on_timer(now);
            }
        }
    }

    /// Whether there is any part that reports: retry policies do not. One that has nothing to be drawn at first may have
    /// later.
    #[inline]
    pub fn reports(&self) -> bool {
        self.reports
    }

    /// What dashboards show.
    #[inline]
    pub fn gauges(&self) -> Gauges {
        let mut gauges = Gauges::default();
        self.inner.report(&mut gauges);
        for outer in &self.outer {
            outer.layer.report(&mut gauges);
        }
        if let Some((phase, reason)) = self.standstill.as_ref().and_then(Standstill::gauges) {
            gauges.phase = Some(phase);
            gauges.reason = Some(reason);
        }
        gauges
    }
}

/// What a layer is told by its place: the inner one keeps the draws that a strategy without layers has.
fn seed_of(seed: u64, layer: usize) -> u64 {
    seed ^ (layer as u64).wrapping_mul(0xa076_1d64_78bd_642f)
}

/// Stacked budgets draw apart from one another, and an op that was shed draws anew.
fn admission(seed: u64, sheds: u64, launch: &Launch) -> impl Fn(usize) -> Draws + use<> {
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

#[cfg(test)]
mod tests;
