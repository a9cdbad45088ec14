//! Cooperation of layers. When an inner layer gives up an op, this counts as one failure in the layer around it.

use std::time::Duration;

use vocabulary::Rng;

use super::layer::{LayerDecision, both};
use super::memory::{LayerMemory, MAX_LAYERS, Permits, Try};
use super::{LaunchDecision, Strategy, admission, seed_of};
use crate::{
    Advice, AttemptEnd, Candidate, CarrierSense, Classification, FailedOp, Instant, LimiterView, Outcome,
    Retry, RetryState, Status, Until,
};

impl Strategy {
    /// Variant of [`Strategy::admit`] for a strategy that stores memory of its ops: it has several layers, or rules
    /// that need memory. An outer layer decides only about launches that begin one of its tries.
    pub(super) fn admit_in_layers(
        &mut self,
        now: Instant,
        view: &LimiterView,
        state: &mut RetryState,
    ) -> LaunchDecision {
        let arrived = view.candidate.arrived;
        let memory = self.memory.of(*state).copied();
        let layer = |index: usize| memory.map(|memory| memory.layers[index]);
        let inner = LimiterView { candidate: inner_launch(&view.candidate, layer(0)), ..*view };
        let (mut wait, mut carrier) = self.inner.poll(now, &inner);
        // Views of the layers in which the launch would begin a try, by index of the layer. The entry is `None` for all
        // other layers.
        let mut begins: [Option<LimiterView>; MAX_LAYERS] = [None; MAX_LAYERS];
        for (index, outer) in self.outer.iter().enumerate() {
            let remembered = layer(index + 1);
            if remembered.is_some_and(|memory| memory.open.is_some()) {
                continue;
            }
            let candidate = outer_launch(&view.candidate, remembered, outer.next_seq);
            let view = LimiterView { in_flight: outer.in_flight, candidate, ..*view };
            let (until, more) = outer.layer.poll(now, &view);
            wait = both(wait, until, Until::and);
            carrier = both(carrier, more, CarrierSense::and);
            begins[index + 1] = Some(view);
        }
        wait = both(wait, self.outage_wait(now), Until::and);
        if let Some(until) = wait {
            return LaunchDecision::Wait(until);
        }
        begins[0] = Some(inner);
        for (index, view) in begins.iter().enumerate() {
            let Some(LimiterView { candidate, .. }) = view else { continue };
            let layer = if index == 0 { &mut self.inner } else { &mut self.outer[index - 1].layer };
            match layer.ask(now, candidate, admission(seed_of(self.seed, index), self.sheds, candidate)) {
                LayerDecision::Permit => {}
                LayerDecision::Wait(until) => wait = both(wait, Some(until), Until::and),
                LayerDecision::Shed(advice) => {
                    self.memory.open(state, arrived).shed_by = index;
                    return self.shed(advice);
                }
            }
        }
        if let Some(until) = wait {
            return LaunchDecision::Wait(until);
        }
        let memory = self.memory.open(state, arrived);
        for (index, outer) in self.outer.iter_mut().enumerate() {
            let Some(view) = begins[index + 1] else { continue };
            let permits = outer.layer.on_sent(now, &view);
            outer.in_flight += 1;
            outer.next_seq += 1;
            let seq = view.candidate.seq;
            let remembered = &mut memory.layers[index + 1];
            remembered.open = Some(Try { seq, began: now, in_flight_then: outer.in_flight, permits });
            remembered.awaits_retry = false;
        }
        memory.layers[0].awaits_retry = false;
        let permits = self.inner.on_sent(now, &inner);
        if let Some(outage) = &mut self.outage {
            outage.on_sent(now, view.candidate.seq);
        }
        LaunchDecision::Send(permits, carrier)
    }

    /// Variant of [`Strategy::on_ended`] for a strategy that stores memory of its ops: it has several layers, or rules
    /// that need memory. A success ends the op's tries in all layers.
    pub(super) fn on_ended_in_layers(
        &mut self,
        now: Instant,
        ended: &AttemptEnd,
        (inner_outcome, outcome): (&Outcome, &Outcome),
        permits: &Permits,
        state: RetryState,
    ) {
        let before = self.memory.of(state).map_or(0, |memory| memory.layers[0].attempts_before);
        let inner = AttemptEnd { attempt: ended.attempt.saturating_sub(before).max(1), ..*ended };
        self.inner.on_ended(now, &inner, (inner_outcome, outcome), permits);
        if outcome.status == Status::Deferred
            && let Some(memory) = self.memory.of_mut(state)
        {
            // A deferred launch is not an attempt. So if the launch was a retry, that retry has still not been sent.
            memory.layers[0].awaits_retry = inner.attempt > 1;
        }
        // An op's tries in the outer layers do not end while other attempts of the same hedging round are in flight.
        let is_over = matches!(outcome.status, Status::Succeeded | Status::Cancelled | Status::Deferred);
        if is_over && !ended.round_continues {
            for index in 0..self.outer.len() {
                self.end_try(now, index, ended.op, ended.ready, outcome, state);
            }
        }
    }

    fn end_try(
        &mut self,
        now: Instant,
        index: usize,
        op: u64,
        ready: u64,
        outcome: &Outcome,
        state: RetryState,
    ) {
        let outer = &mut self.outer[index];
        let Some(memory) = self.memory.of_mut(state) else { return };
        let remembered = &mut memory.layers[index + 1];
        remembered.tried = remembered.open.is_some() && outcome.status != Status::Deferred;
        let Some(Try { seq, began, in_flight_then, permits }) = remembered.open.take() else { return };
        remembered.awaits_retry = outcome.status == Status::Deferred && remembered.tries > 0;
        let ended = AttemptEnd {
            seq,
            op,
            attempt: remembered.tries + 1,
            sent_at: began,
            in_flight_when_sent: in_flight_then,
            in_flight: outer.in_flight,
            ready,
            round_continues: false,
        };
        let classification = outer.layer.rules.classify(outcome);
        let outcome = Outcome { classification, ..*outcome };
        outer.layer.on_ended(now, &ended, (&outcome, &outcome), &permits);
        outer.in_flight -= 1;
    }

    pub(super) fn on_failure_in_layers<R: Rng>(
        &mut self,
        now: Instant,
        failed: &FailedOp,
        attempts: u32,
        state: &mut RetryState,
        keyed: impl Fn(u64, u64, u32) -> R,
    ) -> Retry {
        let memory = self.memory.open(state, failed.arrived);
        let shed = failed.outcome.status == Status::Shed;
        let first = if shed { memory.shed_by } else { 0 };
        let mut retry = Retry::GiveUp;
        if first == 0 {
            let remembered = &mut memory.layers[0];
            let failures = failed.failures - remembered.failures_before;
            let own = FailedOp { failures, arrived: remembered.since, ..*failed };
            let draws = || keyed(self.seed, failed.op, failed.failures);
            let attempts = attempts - remembered.attempts_before;
            let mut policy = remembered.policy;
            retry = self.inner.on_failure(now, &own, attempts, &mut policy, draws, Some(remembered));
            remembered.policy = policy;
        }
        for index in first.saturating_sub(1)..self.outer.len() {
            let after = match retry {
                Retry::GiveUp => Duration::ZERO,
                Retry::GiveUpAfter(delay) => delay,
                Retry::After(_) => break,
            };
            let mut outcome = failed.outcome;
            if shed && index + 1 > first {
                // The launch was shed by a budget of an inner layer, and the advice comes from that budget. So the
                // advice does not apply to this outer layer.
                outcome.advice = Advice::None;
            }
            self.end_try(now, index, failed.op, 0, &outcome, *state);
            let outer = &mut self.outer[index];
            let Some(memory) = self.memory.of_mut(*state) else { break };
            let remembered = &mut memory.layers[index + 1];
            let classification = outer.layer.rules.classify(&outcome);
            remembered.tries += 1;
            remembered.last = Some(outcome.status);
            if !matches!(outcome.status, Status::Shed | Status::Deferred) {
                remembered.last_classification = classification;
            }
            let own = FailedOp {
                failures: remembered.tries,
                arrived: remembered.since,
                outcome: Outcome { classification, ..outcome },
                ..*failed
            };
            let own_seed = seed_of(self.seed, index + 1);
            let draws = || keyed(own_seed, failed.op, failed.failures);
            let mut policy = remembered.policy;
            let tries = remembered.tries;
            let more = outer.layer.on_failure(now, &own, tries, &mut policy, draws, Some(remembered));
            remembered.policy = policy;
            retry = match more {
                Retry::After(delay) => Retry::After(delay.saturating_add(after)),
                Retry::GiveUpAfter(delay) => Retry::GiveUpAfter(delay.saturating_add(after)),
                Retry::GiveUp if after.is_zero() => Retry::GiveUp,
                Retry::GiveUp => Retry::GiveUpAfter(after),
            };
            if let Retry::After(delay) = retry {
                for (place, inside) in memory.layers[..=index].iter_mut().enumerate() {
                    if inside.awaits_retry {
                        let layer =
                            if place == 0 { &mut self.inner } else { &mut self.outer[place - 1].layer };
                        layer.on_retry_withdrawn(now);
                    }
                    inside.begin_again(now + delay, failed.failures, attempts);
                }
            }
        }
        retry
    }

    /// Returns whether a try of an outer layer is in progress for the op to which `state` belongs.
    pub fn is_in_a_try(&self, state: RetryState) -> bool {
        let is_open = |memory: &LayerMemory| memory.open.is_some();
        self.memory.of(state).is_some_and(|memory| memory.layers[1..].iter().any(is_open))
    }

    pub(super) fn forget(&mut self, now: Instant, state: &mut RetryState) {
        let Some(memory) = self.memory.of(*state).copied() else { return };
        if memory.layers[0].awaits_retry {
            self.inner.on_retry_withdrawn(now);
        }
        for index in 0..self.outer.len() {
            if memory.layers[index + 1].awaits_retry {
                self.outer[index].layer.on_retry_withdrawn(now);
            }
            // If the op ended during a try, for example at its deadline, the try counts as cancelled.
            self.end_try(now, index, 0, 0, &Outcome::plain(Status::Cancelled), *state);
        }
        self.memory.forget(state);
    }
}

fn inner_launch(candidate: &Candidate, memory: Option<LayerMemory>) -> Candidate {
    let Some(memory) = memory else { return *candidate };
    let attempt = candidate.attempt.saturating_sub(memory.attempts_before).max(1);
    let is_first = attempt.saturating_sub(candidate.copy) <= 1;
    Candidate {
        attempt,
        arrived: memory.since,
        last: candidate.last.filter(|_| !is_first),
        last_classification: if is_first { Classification::Done } else { candidate.last_classification },
        ..*candidate
    }
}

fn outer_launch(candidate: &Candidate, memory: Option<LayerMemory>, seq: u64) -> Candidate {
    let Some(memory) = memory else { return Candidate { seq, ..*candidate } };
    Candidate {
        seq,
        attempt: memory.tries + 1,
        arrived: memory.since,
        last: memory.last,
        last_classification: memory.last_classification,
        copy: 0,
        ..*candidate
    }
}
