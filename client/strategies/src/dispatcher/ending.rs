//! End of attempts, and the resulting outcome of their ops.

use std::time::Duration;

use super::host::{Backoff, EndedAttempt};
use super::in_flight::{Attempt, Undecided};
use super::instance::{Instance, InstanceId};
use super::op::{Op, OpSlot, OpState, Waiting};
use super::{AttemptKey, DEFERRED, Dispatcher, GiveUp, Host, Output};
use crate::{AttemptEnd, FailedOp, Instant, Outcome, Retry, Status};

struct End<'a, N> {
    sent_at: Instant,
    outcome: Outcome,
    note: Option<&'a N>,
    /// True if the outcome of the op is already decided: by another of its attempts, or because the op is cancelled.
    is_moot: bool,
}

impl<H: Host> Dispatcher<H> {
    /// Processes the end of an attempt, which was sent at `sent_at`. Does nothing if the attempt has already been removed because it timed
    /// out or was withdrawn.
    #[inline]
    pub fn ended(
        &mut self,
        host: &mut H,
        at: Instant,
        key: AttemptKey,
        sent_at: Instant,
        outcome: &Outcome,
        note: &H::Note,
    ) {
        let Some(attempt) = self.take_attempt(key) else { return };
        if outcome.status == Status::Deferred {
            return self.on_deferred(host, at, attempt, sent_at, outcome);
        }
        self.end(host, at, &attempt, End { sent_at, outcome: *outcome, note: Some(note), is_moot: false });
    }

    /// Removes an attempt that the server did not start because too few slots were free. The attempt counts as if it
    /// had never been sent.
    fn on_deferred(
        &mut self,
        host: &mut H,
        at: Instant,
        attempt: Attempt<H::Attempt>,
        sent_at: Instant,
        outcome: &Outcome,
    ) {
        // The parts of the strategy that observed the sending of the attempt (`on_sent`) must also observe its end.
        let instance = &mut self.instances[attempt.instance];
        let op = &mut self.ops[attempt.op];
        let ended = ended(&attempt, op, instance, sent_at, false);
        instance.strategy.on_ended(at, &ended, outcome, &attempt.permits, &mut op.retry_state);
        instance.in_flight -= 1;
        // If no attempt was sent after the deferred one, the next attempt reuses its numbers. In virtual time this is
        // always so.
        if instance.next_seq == attempt.seq + 1 {
            instance.next_seq = attempt.seq;
        }
        if self.next_serial == attempt.serial + 1 {
            self.next_serial = attempt.serial;
        }
        self.forget_in_flight(attempt.serial);
        self.note_gauges(host, attempt.instance, at);
        self.ops[attempt.op].attempts -= 1;
        host.on_deferred();
        let cost = attempt.undecided.map_or(Duration::ZERO, |undecided| undecided.cost);
        self.after_failure(host, at, attempt.instance, attempt.op, outcome, cost);
        self.launch(host, attempt.instance, at);
    }

    /// Takes back an attempt that was never sent, for example because a hold began after its admission. Its op waits again until the
    /// strategy admits it.
    pub fn unsend(&mut self, host: &mut H, at: Instant, key: AttemptKey) {
        let Some(attempt) = self.take_attempt(key) else { return };
        let others = self.hedges && self.rounds.leave(attempt.op, attempt.serial);
        let instance = &mut self.instances[attempt.instance];
        let op = &mut self.ops[attempt.op];
        let ended = ended(&attempt, op, instance, at, others);
        instance.strategy.on_ended(at, &ended, &DEFERRED, &attempt.permits, &mut op.retry_state);
        instance.in_flight -= 1;
        op.attempts -= 1;
        host.on_unsent(at, &attempt, self.attempts.len() as u64);
        // The op of a hedged copy continues with its other attempts.
        if !others {
            op.state = OpState::Ready;
            let waiting = Waiting::stored(attempt.op, op);
            if self.hedges {
                self.rounds.close(attempt.op);
            }
            self.enqueue(waiting, attempt.instance, at);
        }
        self.note_gauges(host, attempt.instance, at);
        self.launch(host, attempt.instance, at);
    }

    /// Corrects the number of attempts in flight that is stored for attempts sent after a deferred one. The deferred
    /// attempt must not be included in that number, because it does not count.
    fn forget_in_flight(&mut self, serial: u64) {
        // Fast path: skips the loop over the attempts in flight if none of them stores the number of attempts in
        // flight, the usual case.
        if self.undecided == 0 {
            return;
        }
        for later in self.attempts.iter_mut().filter(|other| other.serial > serial) {
            if let Some(undecided) = &mut later.undecided {
                undecided.in_flight -= 1;
            }
        }
    }

    #[inline]
    fn take_attempt(&mut self, key: AttemptKey) -> Option<Attempt<H::Attempt>> {
        let attempt = *self.attempts.get(key)?;
        self.attempts.remove(key);
        self.undecided -= usize::from(attempt.undecided.is_some());
        Some(attempt)
    }

    /// Withdraws an attempt in flight, which ends with `outcome`.
    pub(super) fn withdraw(
        &mut self,
        host: &mut H,
        at: Instant,
        key: AttemptKey,
        outcome: &Outcome,
        is_moot: bool,
    ) {
        let Some(attempt) = self.take_attempt(key) else { return };
        self.outbox.push_back(Output::Cancel(key));
        self.end(host, at, &attempt, End { sent_at: attempt.due, outcome: *outcome, note: None, is_moot });
    }

    fn end(&mut self, host: &mut H, at: Instant, attempt: &Attempt<H::Attempt>, mut end: End<'_, H::Note>) {
        let others = self.hedges && self.rounds.leave(attempt.op, attempt.serial);
        let round_continues = others && end.outcome.status != Status::Succeeded || end.is_moot;
        self.report_end(host, at, attempt, &mut end, round_continues);
        if end.is_moot {
            return;
        }
        let outcome = &end.outcome;
        if self.hedges && self.round_continues(host, at, attempt, outcome) {
            return self.launch(host, attempt.instance, at);
        }
        match outcome.status {
            Status::Succeeded => {
                let mut op = self.ops.remove(attempt.op.index());
                self.instances[attempt.instance].strategy.on_over(at, &mut op.retry_state, false);
                host.on_done(at, attempt.op.0, &op, end.note);
            }
            Status::Cancelled => self.ops[attempt.op].state = OpState::Ready,
            Status::Rejected | Status::Failed(_) | Status::Shed | Status::Deferred => {
                host.on_in_vain(at);
                self.after_failure(host, at, attempt.instance, attempt.op, outcome, Duration::ZERO);
                let again =
                    || self.ops.get(attempt.op.index()).is_some_and(|op| op.state == OpState::Sleeping);
                if attempt.due == at && self.timers.wakes.next() == Some(at) && again() {
                    host.on_fruitless(at);
                }
            }
        }
        self.launch(host, attempt.instance, at);
    }

    /// Reports the end of an attempt to the strategy and the host. Stores the strategy's classification of the
    /// attempt in its outcome. `round_continues` is true if another attempt decides the outcome of the op.
    #[inline]
    fn report_end(
        &mut self,
        host: &mut H,
        at: Instant,
        attempt: &Attempt<H::Attempt>,
        end: &mut End<'_, H::Note>,
        round_continues: bool,
    ) {
        let op = &mut self.ops[attempt.op];
        if let Some(Undecided { in_flight, .. }) = attempt.undecided {
            // The server never reported that it started this attempt. But it did not defer the attempt either. So the
            // attempt must have started, and is counted now.
            host.on_sent(attempt, op, in_flight);
        }
        if let Some(method) = host.method(op.id) {
            end.outcome.method = method;
        }
        let instance = &mut self.instances[attempt.instance];
        end.outcome.classification = instance.strategy.classify(&end.outcome);
        let End { sent_at, ref outcome, note, .. } = *end;
        op.last = Some(outcome.status);
        // Fast path: a strategy that only retries has no parts that observe the ends of attempts.
        if !instance.strategy.only_retries() {
            let ended = ended(attempt, op, instance, sent_at, round_continues);
            instance.strategy.on_ended(at, &ended, outcome, &attempt.permits, &mut op.retry_state);
        }
        instance.in_flight -= 1;
        let (in_flight, strategy) = (self.attempts.len() as u64, &instance.strategy);
        host.on_ended(at, EndedAttempt { attempt, op, outcome, sent_at, note, in_flight, strategy });
    }

    #[inline]
    fn note_gauges(&mut self, host: &mut H, id: InstanceId, at: Instant) {
        host.on_gauges(at, id.0, &self.instances[id].strategy);
    }

    /// Decides how an op of this strategy instance continues after a failed try: the op sleeps, possibly for no time,
    /// or is given up. `cost` is the duration of the try, which is added to the backoff.
    pub(super) fn after_failure(
        &mut self,
        host: &mut H,
        at: Instant,
        id: InstanceId,
        slot: OpSlot,
        outcome: &Outcome,
        cost: Duration,
    ) {
        let (op, instance) = (&mut self.ops[slot], &mut self.instances[id]);
        op.failures += 1;
        op.last = Some(outcome.status);
        if !matches!(outcome.status, Status::Shed | Status::Deferred) {
            op.last_classification = outcome.classification;
        }
        let mut failed =
            FailedOp { op: op.id.into(), arrived: op.arrived, failures: op.failures, outcome: *outcome };
        // The method is set here for a launch that was shed or deferred. The outcome of an attempt already contains the
        // method.
        if let Some(method) = host.method(op.id) {
            failed.outcome.method = method;
        }
        let is_late = host.is_late(op, at);
        let refused = matches!(outcome.status, Status::Failed(_)) && !host.retries(op, outcome);
        let retry = if is_late || refused {
            Retry::GiveUp
        } else {
            instance.strategy.on_failure(at, &failed, op.attempts, &mut op.retry_state)
        };
        let (delay, state) = match retry {
            Retry::After(delay) => (delay, OpState::Sleeping),
            Retry::GiveUpAfter(delay) => (delay, OpState::Leaving),
            Retry::GiveUp => {
                let why = if is_late { GiveUp::Late } else { GiveUp::After(outcome.status) };
                return self.give_up(host, at, slot, why);
            }
        };
        let until = at + delay + cost;
        op.state = state;
        instance.sleeping += 1;
        let (is_retried, strategy) = (state == OpState::Sleeping, &instance.strategy);
        host.on_asleep(at, Backoff { slot: slot.0, op, until, is_retried, outcome, strategy });
        self.timers.wake(until, slot);
    }

    /// Ends an op without success. The op must not be in any queue.
    pub(super) fn give_up(&mut self, host: &mut H, at: Instant, slot: OpSlot, why: GiveUp) {
        let mut op = self.ops.remove(slot.index());
        let instance = self.instance_of(op.id);
        let waits = op.awaits_retry();
        self.instances[instance].strategy.on_over(at, &mut op.retry_state, waits);
        host.on_given_up(at, slot.0, &op, why);
    }
}

fn ended<A, D>(
    attempt: &Attempt<A>,
    op: &Op<D>,
    instance: &Instance,
    sent_at: Instant,
    round_continues: bool,
) -> AttemptEnd {
    AttemptEnd {
        seq: attempt.seq,
        op: op.id.into(),
        attempt: attempt.ordinal,
        sent_at,
        in_flight_when_sent: attempt.in_flight_when_sent,
        in_flight: instance.in_flight,
        ready: instance.ready_ops(),
        round_continues,
    }
}
