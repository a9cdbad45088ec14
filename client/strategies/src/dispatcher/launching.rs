//! Launching: admission of ready ops by the strategy, and sending of their attempts.

use std::collections::VecDeque;
use std::time::Duration;

use slab::Slab;

use super::in_flight::{Attempt, Undecided};
use super::instance::{Instance, InstanceId};
use super::op::{Op, OpSlot, OpState, Waiting};
use super::{AttemptKey, Dispatcher, Host, Launch, OpKey, Output};
use crate::{Candidate, CarrierSense, Classification, Instant, LaunchDecision, Permits, RetryState, Until};

/// Delay of a poll that a strategy requests for an instant that is not in the future. Without this delay, polls would repeat for ever at
/// one instant.
const MIN_WAIT: Duration = Duration::from_micros(1);

impl<H: Host> Dispatcher<H> {
    pub(super) fn enqueue(&mut self, op: Waiting, id: InstanceId, at: Instant) {
        let instance = &mut self.instances[id];
        let in_a_try = |slot: OpSlot| instance.strategy.is_in_a_try(self.ops[slot].retry_state);
        if instance.strategy.holds_tries() && op.slot().is_some_and(in_a_try) {
            instance.resumed.push_back(op);
        } else {
            instance.ready.push_back(op);
        }
        let candidate = self.candidate(op, id);
        self.instances[id].strategy.on_ready(at, &candidate);
    }

    /// Queues an op, and sends the ops that the strategy admits.
    #[inline]
    pub(super) fn launch_with(&mut self, host: &mut H, op: Waiting, id: InstanceId, at: Instant) {
        // Fast path: sends the op at once, if its strategy sends every op at once and no other op is queued.
        let instance = &self.instances[id];
        if instance.strategy.only_retries() && instance.ready.is_empty() && !self.is_stopping {
            return self.apply(host, id, op, LaunchDecision::Send(Permits::default(), None), at);
        }
        self.enqueue(op, id, at);
        self.launch(host, id, at);
    }

    /// Sends the ops that the strategy admits.
    #[inline]
    pub(super) fn launch(&mut self, host: &mut H, id: InstanceId, at: Instant) {
        // Fast path: nothing is queued, and a strategy that only retries does not use `on_app_limited`.
        let instance = &self.instances[id];
        if !(self.is_stopping || instance.strategy.only_retries() && instance.ready.is_empty()) {
            self.launch_ready(host, id, at);
        }
    }

    fn launch_ready(&mut self, host: &mut H, id: InstanceId, at: Instant) {
        let mut wait = None;
        while let Some(mut op) = self.first_ready(id) {
            // Fast path: skips building a `LimiterView` and querying every part of the strategy if the window is full. A full window admits
            // no op anyway.
            let instance = &self.instances[id];
            if instance.strategy.is_full(instance.in_flight) {
                wait = Some(Until::Event);
                break;
            }
            match self.ask(host, id, &mut op, at) {
                LaunchDecision::Wait(until) => {
                    wait = Some(until);
                    break;
                }
                verdict => {
                    let instance = &mut self.instances[id];
                    if instance.resumed.pop_front().is_none() {
                        instance.ready.pop_front();
                    }
                    self.apply(host, id, op, verdict, at);
                }
            }
        }
        let instance = &mut self.instances[id];
        // Retries that are due at this instant count as ready ops, because they will be ready before time advances.
        let more = || instance.sleeping > 0 && self.timers.wakes.next().is_some_and(|wake| wake <= at);
        if instance.ready_ops() == 0 && !more() {
            instance.strategy.on_app_limited(at, instance.in_flight);
        }
        // The strategy's gauges are recorded after attempts have been sent, because sending an attempt changes some gauges, such as tokens.
        host.on_launched(at, id.0, &instance.strategy);
        self.arm(host, id, at, wait);
    }

    #[inline]
    fn first_ready(&mut self, id: InstanceId) -> Option<Waiting> {
        let Self { instances, ops, dead, .. } = self;
        let Instance { ready, resumed, .. } = &mut instances[id];
        // Fast path: skips looking up the op.
        if *dead == 0 {
            return resumed.front().or_else(|| ready.front()).copied();
        }
        first_alive(resumed, ops, dead).or_else(|| first_alive(ready, ops, dead))
    }

    /// Returns the strategy's decision whether to send an op. If the strategy stores state for the op, the op is moved to the slab together
    /// with this state.
    #[inline]
    fn ask(&mut self, host: &mut H, id: InstanceId, op: &mut Waiting, at: Instant) -> LaunchDecision {
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
            let stored = Op { retry_state: state, ..Op::new(op.id, op.arrived, H::Op::default()) };
            *op = Waiting::stored(self.store(host, stored), &stored);
        }
        verdict
    }

    /// Applies the strategy's decision to an op that has been removed from its queue.
    fn apply(&mut self, host: &mut H, id: InstanceId, op: Waiting, verdict: LaunchDecision, at: Instant) {
        let slot = match op.slot() {
            Some(slot) => slot,
            None => self.store(host, Op::new(op.id, op.arrived, H::Op::default())),
        };
        match verdict {
            LaunchDecision::Send(permits, carrier) => self.send(host, id, slot, permits, carrier, at),
            LaunchDecision::Shed(outcome) => {
                host.on_shed(at, op.id);
                self.after_failure(host, at, id, slot, &outcome, Duration::ZERO);
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
        host: &mut H,
        id: InstanceId,
        slot: OpSlot,
        permits: Permits,
        carrier: Option<CarrierSense>,
        at: Instant,
    ) {
        let carrier = carrier.filter(|carrier| carrier.min_free > 0);
        let in_flight = self.attempts.len() as u64 + 1;
        let instance = &mut self.instances[id];
        let seq = instance.next_seq;
        instance.next_seq += 1;
        instance.in_flight += 1;
        let op = &mut self.ops[slot];
        op.attempts += 1;
        op.state = OpState::InFlight;
        let (op_id, ordinal) = (op.id, op.attempts);
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
            data: host.attempt(at, slot.0, op),
        };
        self.undecided += usize::from(carrier.is_some());
        let key = self.attempts.insert(attempt);
        self.next_serial += 1;
        self.timers.rare_at(at + self.settings.timeout);
        if carrier.is_none() {
            host.on_sent(&attempt, &self.ops[slot], in_flight);
            if self.hedges {
                self.on_sent_hedging(host, id, slot, key, seq, at);
            }
        }
        self.outbox.push_back(Output::Send(Launch {
            attempt: key,
            op: OpKey { slot: slot.0, op: op_id },
            ordinal,
            due: at,
            min_free: carrier.map_or(0, |carrier| carrier.min_free),
        }));
    }

    #[doc(hidden)]
    /// Records that the server has started an attempt with carrier sense.
    pub fn started(&mut self, host: &mut H, key: AttemptKey) {
        let Some(attempt) = self.attempts.get_mut(key) else { return };
        if let Some(Undecided { in_flight, .. }) = attempt.undecided.take() {
            self.undecided -= 1;
            let attempt = *attempt;
            host.on_sent(&attempt, &self.ops[attempt.op], in_flight);
        }
    }

    fn arm(&mut self, host: &mut H, id: InstanceId, at: Instant, wait: Option<Until>) {
        let instance = &mut self.instances[id];
        let asked = match wait {
            Some(Until::At(instant)) => {
                host.on_wait(at, instant);
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
        self.timers.poll(next, id, instance);
    }
}

fn first_alive<D>(
    queue: &mut VecDeque<Waiting>,
    ops: &mut Slab<Op<D>>,
    dead_ops: &mut usize,
) -> Option<Waiting> {
    while let Some(first) = queue.front() {
        let Some(dead) = first.slot().filter(|slot| ops[*slot].state == OpState::Dead) else {
            return Some(*first);
        };
        ops.remove(dead.index());
        queue.pop_front();
        *dead_ops -= 1;
    }
    None
}
