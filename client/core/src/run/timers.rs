//! Scheduled events of a run: arrivals, ends of backoffs, polls, timeouts, deadlines, and the time limit after which a
//! run without progress counts as stalled.

use vocabulary::Instant;

use super::agenda::Due;
use super::{AttemptResult, InFlight, Op, OpId, OpSlot, OpState, Run, RunConfig, Waiting};
use crate::cause::ErrorKind;
use crate::measure::GivenUp;

impl Run {
    pub(super) fn on_timer(&mut self, at: Instant, due: Due) {
        self.agenda.foreseen = None;
        match due {
            Due::Arrival => self.arrive(at),
            Due::Wake => self.on_wake(at),
            Due::Poll => self.on_poll(at),
            Due::Copy => self.on_copy_due(at),
            Due::Timeout => self.on_timeout(at),
            Due::Deadline => self.on_deadline(at),
            Due::DrainOver => self.abort(at),
            Due::Stall => {
                self.stalled_at = Some(at);
                self.abort(at);
            }
        }
        self.note_waiting(at);
    }

    /// Records whether every unfinished op waits as the server advised, by its own advice or because its strategy holds
    /// all attempts. As long as every op does, the run does not count as stalled.
    #[inline]
    pub(super) fn note_waiting(&mut self, at: Instant) {
        // Fast path: most servers give no advice.
        if !self.asked_to_wait.is_empty() {
            let obeys = self.advised.obeying == self.measured.ops.unfinished()
                || self.instances.iter().all(|instance| instance.strategy.holds_all(at));
            if self.stall.on_waiting(obeys, at) {
                self.agenda.rare_at(self.stall.stalls_at());
            }
        }
    }

    pub(super) fn next_due(&mut self) -> Option<(Instant, Due)> {
        if self.stopping {
            return next_timeout(&self.attempts, &self.config);
        }
        if let Some(at) = self.stalled() {
            return Some((at, Due::Stall));
        }
        let waits = self.measured.ops.unfinished() > 0;
        let Self { config, stall, rounds, attempts, agenda, .. } = self;
        agenda.next(|| {
            [
                next_timeout(attempts, config),
                rounds.next().map(|at| (at, Due::Copy)),
                drain_over(config).map(|at| (at, Due::DrainOver)),
                waits.then(|| (stall.stalls_at(), Due::Stall)),
            ]
        })
    }

    #[inline]
    pub(super) fn stalled(&self) -> Option<Instant> {
        let unfinished = self.measured.ops.unfinished();
        self.stall
            .spins_at(unfinished)
            .or_else(|| self.stall.worn_out_at(unfinished))
            .or_else(|| self.exceeds_attempts_at())
    }

    fn exceeds_attempts_at(&self) -> Option<Instant> {
        let most = u64::from(self.config.max_attempts_per_op?).saturating_mul(self.config.workload.ops?);
        (self.measured.attempts.total > most).then(|| self.stall.last_in_vain())
    }

    fn arrive(&mut self, at: Instant) {
        if self.measured.ops.unfinished() == 0 {
            if self.measured.first_arrival.is_none() {
                self.stall.downtime = self.config.outages.of_run(at);
            }
            self.stall.on_progress(at);
            self.agenda.rare_at(self.stall.stalls_at());
        }
        let number = self.agenda.arriving.arrive(at);
        let id = OpId(u32::try_from(number).expect("a run has fewer than 2^32 ops"));
        self.measured.on_arrival(at, self.client_of(id));
        if let Some(bound) = &mut self.lower_bound {
            bound.add(number, at);
        }
        let waiting = match self.config.deadline {
            None => Waiting::fresh(id, at),
            // An op with a deadline is stored in the slab at once, because the deadline timer finds the op by its slot.
            Some(deadline) => {
                let op = Op::new(id, at);
                let slot = self.keep(op);
                self.agenda.expire(at + deadline, slot, id, &self.ops);
                Waiting::kept(slot, &op)
            }
        };
        let instance = self.instance_of(id);
        self.enqueue(waiting, instance, at);
        self.launch(instance, at);
    }

    #[inline]
    pub(super) fn keep(&mut self, op: Op) -> OpSlot {
        let slot = OpSlot(u32::try_from(self.ops.insert(op)).expect("fewer than 2^32 ops wait at once"));
        // Advice may still be stored for this slot. It belongs to the op that used the slot before, so it is removed.
        self.advised.forget(slot);
        slot
    }

    fn on_wake(&mut self, at: Instant) {
        let Some(slot) = self.agenda.wakes.pop() else { return };
        let op = self.ops[slot];
        if op.place == OpState::Dead {
            self.ops.remove(slot.index());
            return;
        }
        let instance = self.instance_of(op.id);
        self.instances[instance].sleeping -= 1;
        self.advised.on_awake(slot);
        if op.place == OpState::Leaving {
            let why = op.last.map_or(GivenUp::Failed, GivenUp::after);
            return self.give_up(at, slot, why);
        }
        self.ops[slot].place = OpState::Ready;
        self.enqueue(Waiting::kept(slot, &op), instance, at);
        self.launch(instance, at);
    }

    fn on_poll(&mut self, at: Instant) {
        let Some(id) = self.agenda.polled() else { return };
        let instance = &mut self.instances[id];
        if instance.armed != Some(at) {
            return;
        }
        instance.armed = None;
        instance.strategy.on_timer(at);
        self.launch(id, at);
    }

    fn on_timeout(&mut self, at: Instant) {
        if let Some(key) = self.attempts.first_key() {
            self.withdraw(at, key, AttemptResult::failed(ErrorKind::Timeout), false);
        }
    }

    /// Gives up an op at its deadline. An op with an attempt in flight continues, because that attempt may still
    /// succeed.
    fn on_deadline(&mut self, at: Instant) {
        let Some((slot, id)) = self.agenda.expired() else { return };
        let Some(op) = self.ops.get(slot.index()).copied().filter(|op| op.id == id) else { return };
        let instance = self.instance_of(id);
        let waits = op.awaits_retry();
        match op.place {
            OpState::Ready => {}
            OpState::Sleeping | OpState::Leaving => {
                self.instances[instance].sleeping -= 1;
                self.advised.on_awake(slot);
            }
            OpState::InFlight => return self.on_deadline_in_flight(at, slot),
            OpState::Dead => return,
        }
        // A queue still refers to the slot of the ended op. The slot is freed when the queue next reaches it.
        let entry = &mut self.ops[slot];
        entry.place = OpState::Dead;
        self.instances[instance].strategy.on_over(at, &mut entry.retry_state, waits);
        self.on_given_up(at, &op, GivenUp::Deadline);
        self.agenda.free_place(at + self.config.pause);
        if self.instances[instance].ready_ops() > 0 {
            self.launch(instance, at);
        }
    }
}

fn next_timeout(attempts: &InFlight, config: &RunConfig) -> Option<(Instant, Due)> {
    attempts.first().map(|attempt| (attempt.due + config.timeout, Due::Timeout))
}

fn drain_over(config: &RunConfig) -> Option<Instant> {
    Some(Instant::ORIGIN + config.workload.duration? + config.drain?)
}
