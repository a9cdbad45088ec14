//! Hedging, which sends copies of an attempt while it is in flight. This module decides when copies are sent. It also decides how the end
//! of one attempt affects the other attempts of the same op.

use std::time::Duration;

use super::in_flight::Attempt;
use super::instance::InstanceId;
use super::op::{OpSlot, Waiting};
use super::{AttemptKey, CANCELLED, Dispatcher, GiveUp, Host};
use crate::{AfterCopy, Candidate, FailedOp, Instant, LaunchDecision, LimiterView, Outcome, Status};

impl<H: Host> Dispatcher<H> {
    pub(super) fn on_sent_hedging(
        &mut self,
        host: &mut H,
        id: InstanceId,
        slot: OpSlot,
        key: AttemptKey,
        seq: u64,
        at: Instant,
    ) {
        if self.rounds.of(slot).is_some() {
            if self.rounds.join(slot, key) {
                host.on_copy();
            }
            return;
        }
        let op = &self.ops[slot];
        let attempt = op.attempts;
        let first = Candidate { seq, attempt, ..self.candidate(Waiting::stored(slot, op), id) };
        if let Some(copies) = self.instances[id].strategy.copies(at, &first) {
            self.rounds.open(slot, key, first, copies);
            self.plan_copy(slot, at + copies.delay);
        }
    }

    fn plan_copy(&mut self, slot: OpSlot, at: Instant) {
        if let Some(at) = self.rounds.plan(slot, at) {
            self.timers.rare_at(at);
        }
    }

    pub(super) fn on_copy_due(&mut self, host: &mut H, at: Instant) {
        let Some(slot) = self.rounds.pop() else { return };
        let id = self.instance_of(self.ops[slot].id);
        let sent = self.send_copy(host, at, slot);
        // The op may have no attempt in flight, because the server requested a pause before the copy (push-back). If the copy is not sent,
        // the outcome of the earlier failed attempt is the op's outcome.
        let over = self.rounds.of(slot).filter(|round| !sent && round.live().is_empty());
        if let Some(failed) = over.and_then(|round| round.failed) {
            self.rounds.close(slot);
            self.after_failure(host, at, id, slot, &failed, Duration::ZERO);
        }
        self.launch(host, id, at);
    }

    /// Sends the op's next hedged copy, if it is permitted and the strategy admits it. Otherwise the copy is dropped. Returns whether the
    /// copy was sent.
    fn send_copy(&mut self, host: &mut H, at: Instant, slot: OpSlot) -> bool {
        let op = self.ops[slot];
        let id = self.instance_of(op.id);
        let instance = &mut self.instances[id];
        let permitted = !self.is_stopping
            && !host.is_late(&op, at)
            && instance.strategy.permits_copy(at, op.arrived, op.attempts, op.retry_state);
        let Some(round) = self.rounds.of_mut(slot).filter(|round| round.left > 0) else { return false };
        if !permitted {
            round.left = 0;
            return false;
        }
        round.left -= 1;
        let (delay, attempt) = (round.delay, op.attempts + 1);
        let copy = attempt - round.first.attempt;
        let candidate = Candidate { seq: instance.next_seq, attempt, copy, ..round.first };
        let view = LimiterView { ready: instance.ready_ops() + 1, ..instance.view(candidate) };
        let verdict = instance.strategy.admit(at, &view, &mut self.ops[slot].retry_state);
        match verdict {
            LaunchDecision::Send(permits, _) => self.send(host, id, slot, permits, None, at),
            LaunchDecision::Shed(_) => host.on_shed(at, op.id),
            LaunchDecision::Wait(_) => {}
        }
        self.plan_copy(slot, at + delay);
        matches!(verdict, LaunchDecision::Send(..))
    }

    /// Handles the deadline of an op with hedged copies. The op continues as long as an attempt is in flight. If no attempt is in flight,
    /// the op only waits for a copy that the server delayed (push-back), and is given up.
    pub(super) fn on_deadline_in_flight(&mut self, host: &mut H, at: Instant, slot: OpSlot) {
        if self.rounds.of(slot).is_some_and(|round| round.live().is_empty()) {
            self.rounds.close(slot);
            let id = self.instance_of(self.ops[slot].id);
            self.give_up(host, at, slot, GiveUp::Late);
            self.launch(host, id, at);
        }
    }

    /// Returns whether the op's round (an attempt with its hedged copies) continues after the end of one of its attempts. The end must have
    /// been reported. If the round continues, another attempt is in flight or a copy is planned. Otherwise the round is closed and its
    /// other attempts are withdrawn. The op then continues as if the ended attempt had been its only one.
    pub(super) fn round_continues(
        &mut self,
        host: &mut H,
        at: Instant,
        attempt: &Attempt<H::Attempt>,
        outcome: &Outcome,
    ) -> bool {
        let slot = attempt.op;
        let Some(round) = self.rounds.of_mut(slot) else { return false };
        let others = !round.live().is_empty();
        let round_continues = match outcome.status {
            Status::Succeeded => false,
            Status::Cancelled => others,
            _ => {
                round.failed = Some(*outcome);
                self.failure_in_round(host, at, attempt, outcome, others)
            }
        };
        if !round_continues {
            self.withdraw_copies(host, at, slot);
        }
        round_continues
    }

    fn failure_in_round(
        &mut self,
        host: &mut H,
        at: Instant,
        attempt: &Attempt<H::Attempt>,
        outcome: &Outcome,
        others: bool,
    ) -> bool {
        let slot = attempt.op;
        let op = &self.ops[slot];
        let failures = op.failures + 1;
        let failed = FailedOp { op: op.id.into(), arrived: op.arrived, failures, outcome: *outcome };
        let late = host.is_late(op, at);
        let after = match outcome.status {
            Status::Failed(_) if !host.retries(op, outcome) => AfterCopy::Over,
            _ => self.instances[attempt.instance].strategy.after_failed_copy(&failed),
        };
        let after = match after {
            AfterCopy::NextAfter(_) if late => AfterCopy::NoMore,
            after => after,
        };
        let round_continues = match after {
            AfterCopy::Over => false,
            AfterCopy::NoMore => {
                if let Some(round) = self.rounds.of_mut(slot) {
                    round.left = 0;
                }
                others
            }
            AfterCopy::GoOn => others,
            AfterCopy::NextAfter(Duration::ZERO) => self.send_copy(host, at, slot) || others,
            AfterCopy::NextAfter(delay) => {
                let comes = self.rounds.of(slot).is_some_and(|round| round.left > 0);
                if comes {
                    host.on_wait(at, at + delay);
                    self.plan_copy(slot, at + delay);
                }
                others || comes
            }
        };
        if round_continues {
            host.on_in_vain(at);
        }
        round_continues
    }

    /// Closes the op's round, and withdraws its attempts in flight.
    pub(super) fn withdraw_copies(&mut self, host: &mut H, at: Instant, slot: OpSlot) {
        let Some(round) = self.rounds.close(slot) else { return };
        for key in round.live() {
            self.withdraw(host, at, *key, &CANCELLED, true);
        }
    }
}
