//! The composition: limiters × retry policy × budgets, and the rules that hold for all of them.

use std::time::Duration;

use vocabulary::{Choice, Purpose, draws};

use crate::standstill::Standstill;
use crate::{
    Admit, Advice, Budget, Carrier, Ended, FailedOp, Failure, Gate, Gauges, Instant, Launch, Limiter,
    Opinion, Outcome, Part, Permit, Retry, RetryPolicy, RetryState, Status, Until, View,
};

/// Budgets that one strategy can stack.
pub(crate) const MAX_BUDGETS: usize = 4;

/// What takes no time must not be tried again at once: a window would spin on a dead server (transport errors, deferrals),
/// the client on its own budget (sheds).
const RETRY_FLOOR: Duration = Duration::from_millis(50);

/// What every budget gave an attempt when it was sent.
pub type Permits = [Permit; MAX_BUDGETS];

/// A running strategy of one client (or of several that share it).
pub struct Strategy {
    seed: u64,
    limiters: Vec<Box<dyn Limiter>>,
    retry: Option<Box<dyn RetryPolicy>>,
    budgets: Vec<Box<dyn Budget>>,
    max_attempts: u32,
    retry_after: RetryAfter,
    /// Launches shed so far: what a budget draws changes with each, so that no op is unlucky for ever.
    sheds: u64,
    /// Of a limiter without a back-off of its own, which would else spin on a server that is not there.
    standstill: Option<Standstill>,
}

/// What is done with a server's `Retry-After`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryAfter {
    /// A retry waits at least as long as the server said.
    #[default]
    Floor,
    /// A retry waits exactly as long as the server said, if it said anything.
    Exact,
    /// It is not read.
    Ignore,
}

impl Choice for RetryAfter {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("floor", Self::Floor), ("exact", Self::Exact), ("ignore", Self::Ignore)];
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
    /// the last counts.
    pub fn new(
        seed: u64,
        parts: impl IntoIterator<Item = Part>,
        max_attempts: u32,
        retry_after: RetryAfter,
    ) -> Self {
        let (mut limiters, mut retry, mut budgets) = (Vec::new(), None, Vec::new());
        for part in parts {
            match part {
                Part::Limiter(limiter) => limiters.push(limiter),
                Part::RetryPolicy(policy) => retry = Some(policy),
                Part::Budget(budget) => budgets.push(budget),
            }
        }
        let backs_off = retry.as_ref().is_some_and(|policy| policy.backs_off());
        let standstill = (!limiters.is_empty() && !backs_off).then(Standstill::new);
        Self { seed, limiters, retry, budgets, max_attempts, retry_after, sheds: 0, standstill }
    }

    /// May the candidate start now? On [`Verdict::Send`] every part has committed: send it. When the server then finds
    /// too little free, [`on_ended`](Self::on_ended) with [`Status::Deferred`] takes that back.
    pub fn admit(&mut self, now: Instant, view: &View) -> Verdict {
        let mut wait: Option<Until> = None;
        let mut carrier: Option<Carrier> = None;
        for limiter in &self.limiters {
            match limiter.poll(now, view) {
                Admit::Go => {}
                Admit::Wait(until) => wait = Some(wait.map_or(until, |other| other.and(until))),
                Admit::GoIf(more) => carrier = Some(carrier.map_or(more, |other| other.and(more))),
            }
        }
        if let Some(until) = self.standstill.and_then(|standstill| standstill.holds(now)) {
            let until = Until::At(until);
            wait = Some(wait.map_or(until, |other| other.and(until)));
        }
        if let Some(until) = wait {
            return Verdict::Wait(until);
        }
        let launch = &view.candidate;
        for index in 0..self.budgets.len() {
            let mut rng = draws(self.admission_seed(index), Purpose::Admission, launch.op, launch.attempt);
            match self.budgets[index].ask(now, launch, &mut rng) {
                Gate::Permit => {}
                Gate::Wait(until) => wait = Some(wait.map_or(until, |other| other.and(until))),
                Gate::Shed(advice) => {
                    self.sheds += 1;
                    self.budgets[index].on_shed(now, launch);
                    return Verdict::Shed(Outcome::advised(Status::Shed, advice));
                }
            }
        }
        if let Some(until) = wait {
            return Verdict::Wait(until);
        }
        let mut permits = Permits::default();
        for (budget, permit) in self.budgets.iter_mut().zip(&mut permits) {
            *permit = budget.on_sent(now, launch);
        }
        for limiter in &mut self.limiters {
            limiter.on_sent(now, view);
        }
        if let Some(standstill) = &mut self.standstill {
            standstill.on_sent(now, launch.seq);
        }
        Verdict::Send(permits, carrier)
    }

    /// Stacked budgets draw apart from one another, and an op that was shed draws anew.
    fn admission_seed(&self, budget: usize) -> u64 {
        let apart = (self.sheds << 2) | (budget as u64 & 3);
        self.seed ^ apart.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// An op became ready: it arrived, or its back-off is over.
    pub fn on_ready(&mut self, now: Instant, candidate: &Launch) {
        for limiter in &mut self.limiters {
            limiter.on_ready(now, candidate);
        }
    }

    /// What it makes of an outcome: the driver writes it into the outcome before any of the calls below.
    #[inline]
    pub fn opinion(&self, outcome: &Outcome) -> Opinion {
        Opinion::of(outcome.status)
    }

    /// An attempt ended; its op, if it failed, goes to [`on_failure`](Self::on_failure) next.
    #[inline]
    pub fn on_ended(&mut self, now: Instant, ended: &Ended, outcome: &Outcome, permits: &Permits) {
        let standstill = self.standstill.as_mut();
        let no_news = standstill.is_some_and(|it| it.on_ended(now, ended.seq, outcome.status));
        let heard = if no_news { Outcome::plain(Status::Cancelled) } else { *outcome };
        for limiter in &mut self.limiters {
            limiter.on_ended(now, ended, &heard);
        }
        for (budget, permit) in self.budgets.iter_mut().zip(permits) {
            budget.on_ended(now, ended, outcome, *permit);
        }
    }

    /// Nothing waits although more could be sent.
    pub fn on_app_limited(&mut self, now: Instant, in_flight: u32) {
        for limiter in &mut self.limiters {
            limiter.on_app_limited(now, in_flight);
        }
    }

    /// What becomes of an op whose try failed; `attempts` are those on the wire so far.
    ///
    /// Without a retry policy an op is ready again at once, and the limiter paces it.
    pub fn on_failure(
        &self,
        now: Instant,
        failed: &FailedOp,
        attempts: u32,
        state: &mut RetryState,
    ) -> Retry {
        let Outcome { status, opinion, advice, .. } = failed.outcome;
        let over = !opinion.is_retriable() || advice == Advice::Never || attempts >= self.max_attempts;
        if over || !self.budgets_permit_retry(now, failed) {
            return Retry::GiveUp;
        }
        let delay = match &self.retry {
            None => Duration::ZERO,
            Some(policy) => {
                let mut rng = draws(self.seed, Purpose::Backoff, failed.op, failed.failures);
                match policy.on_failure(now, failed, state, &mut rng) {
                    Retry::After(delay) => delay,
                    Retry::GiveUp => return Retry::GiveUp,
                }
            }
        };
        let heeds = self.retry.as_ref().is_some_and(|policy| policy.heeds_advice());
        let advised = match (advice, self.retry_after) {
            _ if heeds => delay,
            (Advice::After(after), RetryAfter::Floor) => delay.max(after),
            (Advice::After(after), RetryAfter::Exact) => after,
            _ => delay,
        };
        let floor = match status {
            Status::Failed(Failure::Transport) | Status::Shed | Status::Deferred => RETRY_FLOOR,
            _ => Duration::ZERO,
        };
        Retry::After(advised.max(floor))
    }

    /// Whether no budget ends the op at this failure of an attempt.
    fn budgets_permit_retry(&self, now: Instant, failed: &FailedOp) -> bool {
        let no_attempt = matches!(failed.outcome.status, Status::Shed | Status::Deferred);
        no_attempt || self.budgets.iter().all(|budget| budget.permits_retry(now, failed))
    }

    /// The earliest timer of any part.
    pub fn timer(&self) -> Option<Instant> {
        self.limiters.iter().filter_map(|limiter| limiter.timer()).min()
    }

    /// The instant of [`timer`](Self::timer) has come.
    pub fn on_timer(&mut self, now: Instant) {
        for limiter in &mut self.limiters {
            if limiter.timer().is_some_and(|at| at <= now) {
                limiter.on_timer(now);
            }
        }
    }

    /// Whether there is any part that reports: retry policies do not. One that has nothing to be drawn at first may have
    /// later.
    pub fn reports(&self) -> bool {
        !self.limiters.is_empty() || !self.budgets.is_empty()
    }

    /// What dashboards show.
    pub fn gauges(&self) -> Gauges {
        let mut gauges = Gauges::default();
        for limiter in &self.limiters {
            limiter.report(&mut gauges);
        }
        for budget in &self.budgets {
            budget.report(&mut gauges);
        }
        if self.standstill.is_some_and(|standstill| standstill.is_on()) {
            gauges.phase = Some("probing a dead server");
            gauges.reason = Some("connections failed");
        }
        gauges
    }
}

impl std::fmt::Debug for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Strategy")
            .field("limiters", &self.limiters.len())
            .field("retry", &self.retry.is_some())
            .field("budgets", &self.budgets.len())
            .field("sheds", &self.sheds)
            .field("max_attempts", &self.max_attempts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
