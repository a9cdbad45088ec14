//! Layer of a strategy: limiters, retry policy, budgets and hedger, with the rules that hold for all of them.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;
use vocabulary::{Draws, Rng};

use super::memory::{LayerMemory, Permits};
use crate::advice::Then;
use crate::rules::{FailureKind, Rules};
use crate::shape::Shaped;
use crate::{
    Admit, Advice, Advised, AttemptEnd, Budget, BudgetDecision, Candidate, CarrierSense, FailedOp, Failure,
    Gauges, Hedger, Instant, Limiter, LimiterView, Outcome, Part, Retry, RetryPolicy, RetryState, Status,
    Until,
};

/// Minimum delay of a retry after a result that took no time. Without this delay, a strategy with a window would retry
/// continuously after transport errors and deferrals, for example against a dead server. After sheds, the client would
/// retry continuously against its own budget.
const RETRY_FLOOR: Duration = Duration::from_millis(50);

/// List of all parts of one kind in a layer. It usually has one element, which is stored inline to avoid a further
/// allocation.
type Parts<T> = SmallVec<[Box<T>; 1]>;

pub(super) struct Layer {
    pub(super) rules: Arc<Rules>,
    pub(super) retry: Option<Policy>,
    /// True if no budget, time limit or rule about missing advice takes part in decisions about retries. Then only the
    /// number of attempts and the retry policy decide about an op whose answer had no advice.
    policy_decides: bool,
    pub(super) limiters: Parts<dyn Limiter>,
    pub(super) budgets: Parts<dyn Budget>,
    pub(super) hedger: Option<Box<dyn Hedger>>,
}

pub(super) enum LayerDecision {
    Permit,
    Wait(Until),
    Shed(Advice),
}

impl Layer {
    pub(super) fn new(parts: impl IntoIterator<Item = Part>, rules: Arc<Rules>) -> Self {
        let (mut limiters, mut budgets) = (Parts::new(), Parts::new());
        let (mut retry, mut hedger) = (None, None);
        for part in parts {
            match part {
                Part::Limiter(limiter) => limiters.push(limiter),
                Part::RetryPolicy(policy) => retry = Some(Policy::Other(policy)),
                Part::BackOff(policy) => retry = Some(Policy::BackOff(policy)),
                Part::Budget(budget) => budgets.push(budget),
                Part::Hedging(part) => hedger = Some(part),
            }
        }
        let policy_decides = budgets.is_empty() && rules.max_time.is_none() && !rules.advice.misses_advice();
        Self { rules, retry, policy_decides, limiters, budgets, hedger }
    }

    pub(super) fn backs_off(&self) -> bool {
        self.retry.as_ref().is_some_and(|policy| policy.as_dyn().backs_off())
    }

    pub(super) fn poll(&self, now: Instant, view: &LimiterView) -> (Option<Until>, Option<CarrierSense>) {
        let mut wait: Option<Until> = None;
        let mut carrier: Option<CarrierSense> = None;
        for limiter in &self.limiters {
            match limiter.poll(now, view) {
                Admit::Go => {}
                Admit::Wait(until) => wait = both(wait, Some(until), Until::and),
                Admit::GoIfFree(more) => carrier = both(carrier, Some(more), CarrierSense::and),
            }
        }
        (wait, carrier)
    }

    /// Returns the combined decision of all budgets about the attempt `launch`. `draws(n)` creates the random generator
    /// of the budget at position `n`.
    #[inline]
    pub(super) fn ask(
        &mut self,
        now: Instant,
        launch: &Candidate,
        draws: impl Fn(usize) -> Draws,
    ) -> LayerDecision {
        if self.budgets.is_empty() {
            return LayerDecision::Permit;
        }
        let mut wait: Option<Until> = None;
        for (index, budget) in self.budgets.iter_mut().enumerate() {
            match budget.ask(now, launch, &mut draws(index)) {
                BudgetDecision::Permit => {}
                BudgetDecision::Wait(until) => wait = both(wait, Some(until), Until::and),
                BudgetDecision::Shed(advice) => {
                    budget.on_shed(now, launch);
                    return LayerDecision::Shed(advice);
                }
            }
        }
        wait.map_or(LayerDecision::Permit, LayerDecision::Wait)
    }

    pub(super) fn on_sent(&mut self, now: Instant, view: &LimiterView) -> Permits {
        let mut permits = Permits::default();
        for (budget, permit) in self.budgets.iter_mut().zip(&mut permits) {
            *permit = budget.on_sent(now, &view.candidate);
        }
        for limiter in &mut self.limiters {
            limiter.on_sent(now, view);
        }
        permits
    }

    /// Records the end of an attempt. The limiters receive `inner_outcome`, and the budgets and the hedger receive
    /// `outcome`. The two differ only after a failed probe during an outage: `inner_outcome` is then a cancelled
    /// attempt with the same advice. All parts receive the advice that the layer's rules let through.
    pub(super) fn on_ended(
        &mut self,
        now: Instant,
        ended: &AttemptEnd,
        (inner_outcome, outcome): (&Outcome, &Outcome),
        permits: &Permits,
    ) {
        if self.rules.filter_advice() {
            let [inner_outcome, outcome] = [inner_outcome, outcome]
                .map(|outcome| Outcome { advice: self.rules.advice_of(outcome), ..*outcome });
            return self.notify_parts(now, ended, (&inner_outcome, &outcome), permits);
        }
        self.notify_parts(now, ended, (inner_outcome, outcome), permits);
    }

    #[inline]
    fn notify_parts(
        &mut self,
        now: Instant,
        ended: &AttemptEnd,
        (inner_outcome, outcome): (&Outcome, &Outcome),
        permits: &Permits,
    ) {
        for limiter in &mut self.limiters {
            limiter.on_ended(now, ended, inner_outcome);
        }
        for (budget, permit) in self.budgets.iter_mut().zip(permits) {
            budget.on_ended(now, ended, outcome, *permit);
        }
        if let Some(hedger) = &mut self.hedger {
            hedger.on_ended(now, ended, outcome);
        }
    }

    /// Decides whether and when an op is retried after its try failed. `draws` creates the random generator of the op.
    /// `memory` is the stored state of the op in this layer, or `None` if the strategy stores none.
    pub(super) fn on_failure<R: Rng>(
        &mut self,
        now: Instant,
        failed: &FailedOp,
        attempts: u32,
        state: &mut RetryState,
        draws: impl Fn() -> R,
        memory: Option<&mut LayerMemory>,
    ) -> Retry {
        let Outcome { status, classification, .. } = failed.outcome;
        let advice = self.rules.advice_of(&failed.outcome);
        let over =
            !classification.is_retriable() || advice == Advice::Never || attempts >= self.rules.max_attempts;
        let retry = if over {
            Retry::GiveUp
        } else if self.policy_decides && advice == Advice::None && memory.is_none() {
            // Fast path: skips the checks of time limits, budgets and advice, which have no effect on most failures of
            // most strategies.
            match self.back_off(now, failed, state, draws) {
                Retry::After(delay) => Retry::After(self.floored(status, delay)),
                other => other,
            }
        } else {
            self.weigh(now, failed, advice, state, draws, memory)
        };
        self.after_failure(failed);
        retry
    }

    pub(super) fn after_failure(&mut self, failed: &FailedOp) {
        let no_attempt = matches!(failed.outcome.status, Status::Shed | Status::Deferred);
        if let Some(policy) = self.retry.as_mut().filter(|_| !no_attempt) {
            policy.after_failure(failed);
        }
    }

    fn weigh<R: Rng>(
        &mut self,
        now: Instant,
        failed: &FailedOp,
        advice: Advice,
        state: &mut RetryState,
        draws: impl Fn() -> R,
        mut memory: Option<&mut LayerMemory>,
    ) -> Retry {
        let Outcome { status, classification, .. } = failed.outcome;
        let since = memory.as_ref().map_or(failed.arrived, |memory| memory.since);
        if let (Some(memory), Some(kind)) = (memory.as_mut(), FailureKind::from_outcome(&failed.outcome))
            && memory.count(kind) > self.rules.max_retries[kind as usize]
        {
            return Retry::GiveUp;
        }
        // If a budget of an inner layer sheds a launch, no attempt is made. But the shed still ends the try of this
        // outer layer.
        let tried = memory.as_ref().is_some_and(|memory| memory.tried);
        let no_attempt = !tried && matches!(failed.outcome.status, Status::Shed | Status::Deferred);
        let refused =
            if no_attempt { None } else { self.budgets.iter().find(|it| !it.permits_retry(now, failed)) };
        if refused.is_some_and(|budget| !budget.refuses_after_the_wait()) {
            return Retry::GiveUp;
        }
        let is_refused = refused.is_some();
        let uncounted = memory.as_ref().map_or(0, |memory| memory.uncounted_failures);
        let state_before = *state;
        let counted;
        let counted = if uncounted == 0 {
            failed
        } else {
            counted = FailedOp { failures: failed.failures.saturating_sub(uncounted).max(1), ..*failed };
            &counted
        };
        let delay = match self.back_off(now, counted, state, &draws) {
            Retry::After(delay) => delay,
            other => return other,
        };
        let advised = match &self.retry {
            Some(policy) if policy.as_dyn().uses_advice() => Advised::BackOff,
            _ => self.rules.advice.apply(advice, classification, delay, draws),
        };
        let is_advised = matches!(advised, Advised::After { .. });
        let delay = match advised {
            Advised::GiveUp => return Retry::GiveUp,
            Advised::BackOff => delay,
            Advised::After { delay } => {
                if let Some(memory) = memory.as_deref_mut() {
                    match self.rules.advice.then {
                        Then::GoOn => {}
                        Then::Restart => {
                            memory.uncounted_failures = failed.failures;
                            *state = RetryState::default();
                        }
                        Then::Pause => {
                            memory.uncounted_failures += 1;
                            *state = state_before;
                        }
                    }
                }
                delay
            }
        };
        let delay = self.floored(status, delay);
        if is_refused {
            return Retry::GiveUpAfter(delay);
        }
        let allowed = match self.rules.max_time {
            None => Some(delay),
            Some(max_time) => max_time.allow(since, now, delay, is_advised),
        };
        let Some(delay) = allowed else { return Retry::GiveUp };
        if !no_attempt {
            for budget in &mut self.budgets {
                budget.on_retry(now, failed);
            }
            if let Some(memory) = memory {
                memory.awaits_retry = true;
            }
        }
        Retry::After(delay)
    }

    #[inline]
    fn back_off<R: Rng>(
        &self,
        now: Instant,
        failed: &FailedOp,
        state: &mut RetryState,
        draws: impl Fn() -> R,
    ) -> Retry {
        match &self.retry {
            None => Retry::After(Duration::ZERO),
            Some(policy) => policy.on_failure(now, failed, state, &mut draws()),
        }
    }

    /// Raises a delay to the minimum (`RETRY_FLOOR`) after a shed, a deferral or a transport error. After a transport
    /// error, policies with exact delays are exempt.
    #[inline]
    fn floored(&self, status: Status, delay: Duration) -> Duration {
        let stated = || self.retry.as_ref().is_some_and(|policy| policy.as_dyn().states_delay());
        match status {
            Status::Shed | Status::Deferred => delay.max(RETRY_FLOOR),
            Status::Failed(Failure::Transport) if !stated() => delay.max(RETRY_FLOOR),
            _ => delay,
        }
    }

    pub(super) fn on_retry_withdrawn(&mut self, now: Instant) {
        for budget in &mut self.budgets {
            budget.on_retry_withdrawn(now);
        }
    }

    #[inline]
    pub(super) fn timer(&self) -> Option<Instant> {
        let mut first: Option<Instant> = None;
        for limiter in &self.limiters {
            first = both(first, limiter.timer(), Instant::min);
        }
        first
    }

    pub(super) fn reports(&self) -> bool {
        !self.limiters.is_empty() || !self.budgets.is_empty() || self.hedger.is_some()
    }

    pub(super) fn report(&self, gauges: &mut Gauges) {
        for limiter in &self.limiters {
            limiter.report(gauges);
        }
        for budget in &self.budgets {
            budget.report(gauges);
        }
        if let Some(hedger) = &self.hedger {
            hedger.report(gauges);
        }
    }
}

/// Combines two optional values. A missing value has no effect.
#[inline]
pub(super) fn both<T>(one: Option<T>, other: Option<T>, and: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(and(one, other)),
        (one, other) => one.or(other),
    }
}

/// Retry policy of a layer. The backoffs of this crate and their random generators are called by static dispatch,
/// because a policy is called at every failure.
pub(super) enum Policy {
    BackOff(Shaped),
    Other(Box<dyn RetryPolicy>),
}

impl Policy {
    #[inline]
    fn on_failure<R: Rng>(
        &self,
        now: Instant,
        failed: &FailedOp,
        state: &mut RetryState,
        rng: &mut R,
    ) -> Retry {
        match self {
            Self::BackOff(policy) => policy.wait(failed, state, rng),
            Self::Other(policy) => policy.on_failure(now, failed, state, rng),
        }
    }

    #[inline]
    fn after_failure(&mut self, failed: &FailedOp) {
        match self {
            Self::BackOff(policy) => policy.after_failure(failed),
            Self::Other(policy) => policy.after_failure(failed),
        }
    }

    fn as_dyn(&self) -> &dyn RetryPolicy {
        match self {
            Self::BackOff(policy) => policy,
            Self::Other(policy) => policy.as_ref(),
        }
    }
}
