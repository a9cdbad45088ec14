//! Launching: admission of ready ops by the strategy, and sending of their attempts.

use std::collections::VecDeque;
use std::time::Duration;

use slab::Slab;
use tailback::{Candidate, CarrierSense, Classification, LaunchDecision, Permits, RetryState, Until};
use vocabulary::Instant;

use super::in_flight::{Attempt, Undecided};
use super::{AttemptKey, Instance, InstanceId, Op, OpSlot, OpState, Output, Run, SentAttempt, Waiting};

/// Delay of a poll that a strategy requests for an instant that is not in the future. Without this delay, polls would repeat for ever at
/// one instant.
const MIN_WAIT: Duration = Duration::from_micros(1);

impl Run {
    pub(super) fn enqueue(&mut self, op: Waiting, id: InstanceId, at: Instant) {
        let instance = &mut self.instances[id];
        // Fast path: skips building a `Candidate` if the strategy only retries, because a strategy that only retries does not use
        // candidates.
        if instance.strategy.only_retries() {
            return instance.ready.push_back(op);
        }
        let in_a_try = |slot: OpSlot| instance.strategy.is_in_a_try(self.ops[slot].retry_state);
        if instance.strategy.holds_tries() && op.slot().is_some_and(in_a_try) {
            instance.resumed.push_back(op);
        } else {
            instance.ready.push_back(op);
        }
        let candidate = self.candidate(op, id);
        self.instances[id].strategy.on_ready(at, &candidate);
    }

    pub(super) fn launch(&mut self, id: InstanceId, at: Instant) {
        if self.stopping {
            return;
        }
        let mut wait = None;
        while let Some(mut op) = self.first_ready(id) {
            // Fast path: skips building a `LimiterView` and querying every part of the strategy if the window is full. A full window admits
            // no op anyway.
            let instance = &self.instances[id];
            if instance.strategy.is_full(instance.in_flight) {
                wait = Some(Until::Event);
                break;
            }
            match self.ask(id, &mut op, at) {
                LaunchDecision::Wait(until) => {
                    wait = Some(until);
                    break;
                }
                verdict => {
                    let instance = &mut self.instances[id];
                    if instance.resumed.pop_front().is_none() {
                        instance.ready.pop_front();
                    }
                    self.apply(id, op, verdict, at);
                }
            }
        }
        let instance = &mut self.instances[id];
        // Fast path: skips the following steps for a strategy that only retries, and therefore sends every op at once. It has no gauges and
        // no timer, and does not use `on_app_limited`.
        if instance.strategy.only_retries() {
            return;
        }
        // Retries that are due at this instant count as ready ops, because they will be ready before time advances.
        let more = || instance.sleeping > 0 && self.agenda.wakes.next().is_some_and(|wake| wake <= at);
        if instance.ready_ops() == 0 && !more() {
            instance.strategy.on_app_limited(at, instance.in_flight);
        }
        // The strategy's gauges are recorded after attempts have been sent, because sending an attempt changes some gauges, such as tokens.
        // Windows change only when attempts end.
        if !instance.drawn.is_empty() {
            self.note_gauges(id, at);
        }
        self.arm(id, at, wait);
    }

    fn first_ready(&mut self, id: InstanceId) -> Option<Waiting> {
        let Self { instances, ops, .. } = self;
        let Instance { ready, resumed, .. } = &mut instances[id];
        first_alive(resumed, ops).or_else(|| first_alive(ready, ops))
    }

    /// Returns the strategy's decision whether to send an op. If the strategy stores state for the op, the op is moved to the slab together
    /// with this state.
    #[inline]
    fn ask(&mut self, id: InstanceId, op: &mut Waiting, at: Instant) -> LaunchDecision {
        // Fast path: skips building a `LimiterView` for a strategy that sends every op at once.
        if self.instances[id].strategy.only_retries() {
            return LaunchDecision::Send(Permits::default(), None);
        }
        let candidate = self.candidate(*op, id);
        let instance = &mut self.instances[id];
        let view = instance.view(candidate);
        if let Some(slot) = op.slot() {
            let state = &mut self.ops[slot].retry_state;
            return instance.strategy.admit(at, &view, state);
        }
        let mut state = RetryState::default();
        let verdict = instance.strategy.admit(at, &view, &mut state);
        if state != RetryState::default() {
            // The strategy has stored state for this op. From now on the state is kept, even if the op is not sent.
            let kept = Op { retry_state: state, ..Op::new(op.id, op.arrived) };
            *op = Waiting::kept(self.keep(kept), &kept);
        }
        verdict
    }

    /// Applies the strategy's decision to an op that has been removed from its queue.
    fn apply(&mut self, id: InstanceId, op: Waiting, verdict: LaunchDecision, at: Instant) {
        let slot = match op.slot() {
            Some(slot) => slot,
            None => self.keep(Op::new(op.id, op.arrived)),
        };
        match verdict {
            LaunchDecision::Send(permits, carrier) => self.send(id, slot, permits, carrier, at),
            LaunchDecision::Shed(outcome) => {
                self.count_shed(op.id, at);
                self.after_failure(at, id, slot, &outcome, Duration::ZERO);
            }
            LaunchDecision::Wait(_) => unreachable!("an op that waits stays in the queue"),
        }
    }

    pub(super) fn candidate(&self, op: Waiting, id: InstanceId) -> Candidate {
        let seq = self.instances[id].next_seq;
        let (attempts, last, last_classification) = match op.slot() {
            Some(slot) => {
                let op = &self.ops[slot];
                (op.attempts, op.last, op.last_classification)
            }
            None => (0, None, Classification::Done),
        };
        Candidate {
            seq,
            op: op.id.into(),
            attempt: attempts + 1,
            arrived: op.arrived,
            last,
            last_classification,
            copy: 0,
        }
    }

    pub(super) fn send(
        &mut self,
        id: InstanceId,
        slot: OpSlot,
        permits: Permits,
        carrier: Option<CarrierSense>,
        at: Instant,
    ) {
        let carrier = carrier.filter(|carrier| carrier.min_free > 0);
        let is_early = self.is_early(slot, at);
        let in_flight = self.attempts.len() as u64 + 1;
        let instance = &mut self.instances[id];
        let seq = instance.next_seq;
        instance.next_seq += 1;
        instance.in_flight += 1;
        let op = &mut self.ops[slot];
        op.attempts += 1;
        op.place = OpState::InFlight;
        let (op_id, ordinal, of) = (op.id, op.attempts, slot);
        let attempt = Attempt {
            op: slot,
            instance: id,
            serial: self.next_serial,
            seq,
            due: at,
            in_flight_when_sent: instance.in_flight,
            ordinal,
            permits,
            undecided: carrier.map(|carrier| Undecided { cost: carrier.cost, in_flight }),
            waits: false,
            is_early,
        };
        self.undecided += usize::from(carrier.is_some());
        let key = self.attempts.insert(attempt);
        self.next_serial += 1;
        self.agenda.rare_at(at + self.config.timeout);
        if carrier.is_none() {
            self.count_sent(&attempt, in_flight);
            if self.hedges {
                self.on_sent_hedging(id, of, key, seq, at);
            }
        }
        self.outbox.push_back(Output::Send(SentAttempt {
            attempt: key,
            client: self.client_of(op_id),
            op: op_id.into(),
            ordinal,
            due: at,
            min_free: carrier.map_or(0, |carrier| carrier.min_free),
        }));
    }

    /// Counts a sent attempt: among all attempts, those sent after a permanent refusal, and those sent after advice of the server.
    #[inline]
    pub(super) fn count_sent(&mut self, attempt: &Attempt, in_flight: u64) {
        let Attempt { due: sent_at, op: slot, is_early, .. } = *attempt;
        let op = &self.ops[slot];
        self.measured.early_shared += u64::from(is_early);
        self.measured.attempts.after_final += u64::from(op.failed_for_good());
        if let Some(not_before) = self.advised.of(slot) {
            self.measured.on_advised_retry(sent_at, not_before);
            self.advised.forget(slot);
        }
        self.measured.on_sent(sent_at, in_flight, op.attempts);
    }

    /// Removes an attempt that waits for a connection from the counts. It is counted again once it is sent.
    pub(super) fn on_waiting(&mut self, key: AttemptKey) {
        let Some(attempt) = self.attempts.get_mut(key).filter(|attempt| !attempt.waits) else { return };
        attempt.waits = true;
        self.waiting += 1;
        // An undecided attempt is not counted yet.
        if attempt.undecided.is_none() {
            let (due, op) = (attempt.due, attempt.op);
            self.measured.early_shared -= u64::from(attempt.is_early);
            let after_final = self.ops[op].failed_for_good();
            self.measured.attempts.after_final -= u64::from(after_final);
            self.measured.attempts.total -= 1;
            self.measured.series.at(due).sent -= 1;
        }
    }

    /// Counts an attempt that got a connection, unless its strategy holds all attempts at present: then it is taken back unsent.
    pub(super) fn on_connected(&mut self, at: Instant, key: AttemptKey) {
        let Some(waiting) = self.attempts.get(key).filter(|attempt| attempt.waits) else { return };
        if self.instances[waiting.instance].strategy.holds_all(at) {
            return self.take_back(at, key);
        }
        let is_early = self.is_early(waiting.op, at);
        let Some(attempt) = self.attempts.get_mut(key) else { return };
        (attempt.waits, attempt.is_early) = (false, is_early);
        self.waiting -= 1;
        if attempt.undecided.is_none() {
            self.measured.early_shared += u64::from(is_early);
            let after_final = self.ops[attempt.op].failed_for_good();
            self.measured.attempts.after_final += u64::from(after_final);
            self.measured.attempts.total += 1;
            self.measured.series.at(at).sent += 1;
        }
    }

    fn arm(&mut self, id: InstanceId, at: Instant, wait: Option<Until>) {
        let instance = &mut self.instances[id];
        let asked = match wait {
            Some(Until::At(instant)) => {
                // A run in which all ops wait for an open circuit breaker does not count as stalled. So the wait is recorded like a
                // backoff.
                self.stall.on_backoff(instant.since(at));
                Some(instant)
            }
            _ => None,
        };
        let next = match (asked, instance.strategy.timer()) {
            (None, None) => {
                instance.armed = None;
                return;
            }
            (Some(one), Some(other)) => one.min(other),
            (Some(at), None) | (None, Some(at)) => at,
        };
        let next = if next > at { next } else { at + MIN_WAIT };
        self.agenda.poll(next, id, instance);
    }
}

#[inline]
fn first_alive(queue: &mut VecDeque<Waiting>, ops: &mut Slab<Op>) -> Option<Waiting> {
    while let Some(first) = queue.front() {
        let Some(dead) = first.slot().filter(|slot| ops[*slot].place == OpState::Dead) else {
            return Some(*first);
        };
        ops.remove(dead.index());
        queue.pop_front();
    }
    None
}
