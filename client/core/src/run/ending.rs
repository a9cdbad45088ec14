//! End of attempts, the resulting outcome of their ops, and the end of the run.

use std::time::Duration;

use tailback::{Advice, AttemptEnd, FailedOp, Failure, Outcome, Retry, Status};
use vocabulary::Instant;

use super::in_flight::{Attempt, Undecided};
use super::{
    AttemptKey, AttemptResult, Completion, Instance, InstanceId, Op, OpSlot, OpState, Output, Refusal,
    RetryOutlook, Run, Sample, Slots, Waiting,
};
use crate::cause::{Cause, ErrorKind};
use crate::measure::GivenUp;

/// Pause of a closed-loop client after an op that took no time or was shed, if no pause is configured. Without a pause,
/// such a client would be infinitely fast, and in virtual time the run would stay at one instant for ever.
const TURNAROUND: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct End {
    pub sent_at: Instant,
    pub outcome: Outcome,
    /// Status under which the attempt is counted. It depends on the server's verdict, if the server reported one, and
    /// otherwise only on the client's own status.
    pub counted: Status,
    pub cause: Option<Cause>,
    pub by_gateway: bool,
    /// True if another attempt of the op has already decided the outcome of the op.
    pub is_moot: bool,
}

impl Run {
    /// Processes the end of an attempt. Does nothing if the attempt has already been removed because it timed out or
    /// was withdrawn.
    pub(super) fn on_ended(&mut self, now: Instant, completion: &Completion) {
        let Some(attempt) = self.attempts.get(completion.attempt) else { return };
        let attempt = *attempt;
        self.forget_attempt(completion.attempt, &attempt);
        let Completion { sent_at, result, .. } = completion;
        let sent_at = *sent_at;
        self.measured.send_lag.record_between(attempt.due, sent_at);
        if result.outcome.status == Status::Deferred {
            return self.on_deferred(now, attempt, sent_at, &result.outcome);
        }
        if let Some(seen) = &result.server {
            self.cap_changed |= self.server.is_some_and(|before| before.cap != seen.cap);
            if self.lower_bound.as_ref().is_some_and(|bound| !bound.holds_at(seen.cap)) {
                // The server has another configuration than the one for which the lower bound on the makespan was
                // proven.
                self.lower_bound = None;
                self.cap_changed = true;
            }
            self.server = Some(Slots { busy: seen.busy, cap: seen.cap });
            self.measured.on_server_seen(now, seen.busy, seen.cap);
            if !seen.limits.is_empty() {
                self.limits = seen.limits;
                self.measured.on_advertised_limits(now, seen.cap, seen.limits);
            }
            if let Some(took) = seen.took {
                self.measured.on_answer_due(sent_at + took, now);
            }
        }
        if let Some(wait) = result.advised_wait {
            self.advised.note(attempt.op, now, wait);
            self.asked_to_wait.note(self.caller_of(attempt.op), now, wait);
        }
        let AttemptResult { outcome, server, cause, by_gateway, .. } = *result;
        let verdict = server.and_then(|seen| seen.verdict);
        let counted = verdict.map_or(outcome.status, |verdict| verdict.counted(outcome.status));
        if by_gateway {
            // This answer came from an intermediary. But the lower bound on the makespan and the rate limit hold only
            // for the server alone.
            self.lower_bound = None;
            self.follow_law(None);
            let succeeded = outcome.status == Status::Succeeded;
            self.measured.attempts.by_gateway += 1;
            self.measured.gateway_successes += u64::from(succeeded);
        }
        self.end(now, &attempt, End { sent_at, outcome, counted, cause, by_gateway, is_moot: false });
    }

    pub(super) fn on_started(&mut self, key: AttemptKey) {
        let Some(attempt) = self.attempts.get_mut(key) else { return };
        if let Some(Undecided { in_flight, .. }) = attempt.undecided.take() {
            self.undecided -= 1;
            let attempt = *attempt;
            self.count_sent(&attempt, in_flight);
        }
    }

    /// Removes an attempt that the server did not start because too few slots were free. The attempt counts as if it
    /// had never been sent.
    fn on_deferred(&mut self, at: Instant, attempt: Attempt, sent_at: Instant, outcome: &Outcome) {
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
        self.note_gauges(attempt.instance, at);
        self.ops[attempt.op].attempts -= 1;
        self.measured.ops.deferred += 1;
        let cost = attempt.undecided.map_or(Duration::ZERO, |undecided| undecided.cost);
        self.after_failure(at, attempt.instance, attempt.op, outcome, cost);
        self.launch(attempt.instance, at);
    }

    /// Takes back an attempt that was never sent. Its op waits again until the strategy admits it.
    pub(super) fn take_back(&mut self, at: Instant, key: AttemptKey) {
        let Some(attempt) = self.attempts.get(key) else { return };
        let attempt = *attempt;
        self.forget_attempt(key, &attempt);
        let others = self.hedges && self.rounds.leave(attempt.op, attempt.serial);
        let instance = &mut self.instances[attempt.instance];
        let op = &mut self.ops[attempt.op];
        let ended = ended(&attempt, op, instance, at, others);
        let outcome = const { Outcome::plain(Status::Deferred) };
        instance.strategy.on_ended(at, &ended, &outcome, &attempt.permits, &mut op.retry_state);
        instance.in_flight -= 1;
        op.attempts -= 1;
        self.measured.on_never_sent(at, self.attempts.len() as u64);
        // The op of a hedged copy continues with its other attempts.
        if !others {
            op.place = OpState::Ready;
            let waiting = Waiting::kept(attempt.op, op);
            if self.hedges {
                self.rounds.close(attempt.op);
            }
            self.enqueue(waiting, attempt.instance, at);
        }
        self.note_gauges(attempt.instance, at);
        self.launch(attempt.instance, at);
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
    fn forget_attempt(&mut self, key: AttemptKey, attempt: &Attempt) {
        self.attempts.remove(key);
        self.undecided -= usize::from(attempt.undecided.is_some());
        self.waiting -= usize::from(attempt.waits);
    }

    /// Withdraws an attempt in flight, which ends with `result`. The attempt is moot if another attempt of its op has already decided the
    /// outcome of the op.
    pub(super) fn withdraw(&mut self, at: Instant, key: AttemptKey, result: AttemptResult, is_moot: bool) {
        let Some(attempt) = self.attempts.get(key) else { return };
        let attempt = *attempt;
        self.forget_attempt(key, &attempt);
        self.outbox.push_back(Output::Cancel(key));
        let AttemptResult { outcome, cause, by_gateway, .. } = result;
        let counted = outcome.status;
        self.end(at, &attempt, End { sent_at: attempt.due, outcome, counted, cause, by_gateway, is_moot });
    }

    fn end(&mut self, at: Instant, attempt: &Attempt, mut end: End) {
        let others = self.hedges && self.rounds.leave(attempt.op, attempt.serial);
        let round_continues = others && end.outcome.status != Status::Succeeded || end.is_moot;
        self.tell_end(at, attempt, &mut end, round_continues);
        if end.is_moot {
            return;
        }
        let outcome = &end.outcome;
        if self.hedges && self.round_continues(at, attempt, outcome) {
            return self.launch(attempt.instance, at);
        }
        match outcome.status {
            // For the client the op succeeded, but the server reported that it did not do the work. So the op is given
            // up.
            Status::Succeeded if end.counted != Status::Succeeded => {
                self.stall.on_in_vain(at);
                self.give_up(at, attempt.op, GivenUp::after(end.counted));
            }
            Status::Succeeded => {
                let mut op = self.ops.remove(attempt.op.index());
                self.instances[attempt.instance].strategy.on_over(at, &mut op.retry_state, false);
                self.stall.on_progress(at);
                let client = self.client_of(op.id);
                self.measured.on_success(at, op.arrived, op.attempts, client);
                self.free_place(at, op.arrived == at);
            }
            Status::Cancelled => self.ops[attempt.op].place = OpState::Ready,
            Status::Rejected | Status::Failed(_) | Status::Shed | Status::Deferred => {
                self.stall.on_in_vain(at);
                self.after_failure(at, attempt.instance, attempt.op, outcome, Duration::ZERO);
                let again =
                    || self.ops.get(attempt.op.index()).is_some_and(|op| op.place == OpState::Sleeping);
                if attempt.due == at && self.agenda.wakes.next() == Some(at) && again() {
                    self.stall.on_fruitless(at);
                }
            }
        }
        self.launch(attempt.instance, at);
    }

    /// Reports the end of an attempt to the strategy and the measurements. Stores the strategy's classification of the
    /// attempt in its outcome. `round_continues` is true if another attempt decides the outcome of the op.
    fn tell_end(&mut self, at: Instant, attempt: &Attempt, end: &mut End, round_continues: bool) {
        if let Some(Undecided { in_flight, .. }) = attempt.undecided.filter(|_| !attempt.waits) {
            // The server never reported that it started this attempt. But it did not defer the attempt either. So the
            // attempt must have started, and is counted now.
            self.count_sent(attempt, in_flight);
        }
        if self.config.requests.mix.is_some()
            && let Some(method) = self.method_of(self.ops[attempt.op].id)
        {
            end.outcome.method = method;
        }
        let instance = &mut self.instances[attempt.instance];
        let op = &mut self.ops[attempt.op];
        end.outcome.classification = instance.strategy.classify(&end.outcome);
        let End { sent_at, ref outcome, counted, cause, .. } = *end;
        op.last = Some(outcome.status);
        op.outlook = op.outlook.after(outcome.status);
        // Fast path: a strategy that only retries has no parts that observe the ends of attempts.
        if !instance.strategy.only_retries() {
            let ended = ended(attempt, op, instance, sent_at, round_continues);
            instance.strategy.on_ended(at, &ended, outcome, &attempt.permits, &mut op.retry_state);
        }
        instance.in_flight -= 1;
        self.note_gauges(attempt.instance, at);
        if self.samples.is_some() || self.log.is_some() {
            self.write_sample(at, attempt, end);
        }
        if attempt.waits {
            self.measured.on_never_sent(at, self.in_flight());
        } else {
            self.measured.on_ended(at, counted, sent_at, self.in_flight());
            if matches!(counted, Status::Failed(_)) {
                self.measured.failures.count(cause.unwrap_or(Cause::Error(ErrorKind::Other)));
            }
        }
        if let Some(status @ Cause::Status(_)) = cause {
            self.measured.statuses.count(status);
        }
        self.failed_attempts += u64::from(matches!(outcome.status, Status::Failed(_)));
        match outcome.status {
            Status::Failed(Failure::Transport) => {
                if self.silent_attempts == 0 {
                    self.given_up_before_silence = self.measured.ops.given_up - self.measured.ops.failed;
                }
                self.silent_attempts += 1;
            }
            Status::Failed(Failure::Server | Failure::Fatal) => self.silent_attempts = 0,
            Status::Succeeded | Status::Rejected => (self.failed_attempts, self.silent_attempts) = (0, 0),
            _ => {}
        }
    }

    fn write_sample(&mut self, ended: Instant, attempt: &Attempt, end: &End) {
        let op = &self.ops[attempt.op];
        let sample = Sample {
            op: op.id.into(),
            attempt: attempt.ordinal,
            client: self.client_of(op.id),
            serial: attempt.serial,
            arrived: op.arrived,
            due: attempt.due,
            sent: end.sent_at,
            is_sent: !attempt.waits,
            ended,
            status: end.counted,
            cause: end.cause,
            by_gateway: end.by_gateway,
            window: self.instances[attempt.instance].window,
        };
        if let Some(sink) = &mut self.samples {
            sink(&sample);
        }
        if let Some(log) = &mut self.log {
            log.samples.push(sample);
        }
    }

    /// Decides how an op of this strategy instance continues after a failed try: the op sleeps, possibly for no time,
    /// or is given up. `cost` is the duration of the try, which is added to the backoff.
    pub(super) fn after_failure(
        &mut self,
        at: Instant,
        id: InstanceId,
        slot: OpSlot,
        outcome: &Outcome,
        cost: Duration,
    ) {
        let Self { ops, instances, config, .. } = self;
        let (op, instance) = (&mut ops[slot], &mut instances[id]);
        op.failures += 1;
        op.last = Some(outcome.status);
        if !matches!(outcome.status, Status::Shed | Status::Deferred) {
            op.last_classification = outcome.classification;
        }
        let mut failed =
            FailedOp { op: op.id.into(), arrived: op.arrived, failures: op.failures, outcome: *outcome };
        // The method is set here for a launch that was shed or deferred. The outcome of an attempt already contains the
        // method.
        if let Some(method) = config.requests.method_of(config.seed, op.id.into()) {
            failed.outcome.method = method;
        }
        let past_deadline = config.is_late(op.arrived, at);
        let refused = matches!(outcome.status, Status::Failed(_)) && !config.retries_failed(outcome);
        let retry = if past_deadline || refused {
            Retry::GiveUp
        } else {
            instance.strategy.on_failure(at, &failed, op.attempts, &mut op.retry_state)
        };
        let (delay, place) = match retry {
            Retry::After(delay) => (delay, OpState::Sleeping),
            Retry::GiveUpAfter(delay) => (delay, OpState::Leaving),
            Retry::GiveUp => {
                let why = if past_deadline { GivenUp::Deadline } else { GivenUp::after(outcome.status) };
                return self.give_up(at, slot, why);
            }
        };
        let delay = delay.saturating_add(cost);
        op.place = place;
        instance.sleeping += 1;
        self.stall.on_backoff(delay);
        if place == OpState::Sleeping {
            self.advised.on_asleep(slot, at, at + delay);
            if let (Advice::After(advised), _) | (_, Advice::After(advised)) =
                (outcome.advice, outcome.outer_advice)
                && let Some(followed) = instance.strategy.follows_advice_up_to()
            {
                self.advised.on_long(slot, at, delay, advised, followed);
            }
        }
        self.agenda.wake(at + delay, slot);
    }

    /// Ends an op without success. The op must not be in any queue.
    pub(super) fn give_up(&mut self, at: Instant, slot: OpSlot, why: GivenUp) {
        let mut op = self.ops.remove(slot.index());
        let instance = self.instance_of(op.id);
        let waits = op.awaits_retry();
        self.instances[instance].strategy.on_over(at, &mut op.retry_state, waits);
        self.on_given_up(at, &op, why);
        // Even an op that was shed, or that failed at once, occupies its place for some time. Otherwise a closed loop
        // would repeat for ever at one instant.
        let shed = matches!(op.last, Some(Status::Shed | Status::Deferred));
        self.stall.on_end();
        self.free_place(at, shed || op.arrived == at);
    }

    fn free_place(&mut self, at: Instant, took_no_time: bool) {
        let pause = match self.config.pause {
            Duration::ZERO if took_no_time => TURNAROUND,
            pause => pause,
        };
        self.agenda.free_place(at + pause);
    }

    pub(super) fn on_given_up(&mut self, at: Instant, op: &Op, why: GivenUp) {
        if let Some(log) = &mut self.log {
            log.refusals.push(Refusal::GivenUp { op: op.id.into(), at, why });
        }
        self.measured.on_given_up(at, op.attempts, why, self.client_of(op.id));
        let failed = match why {
            GivenUp::Failed => true,
            GivenUp::Deadline => false,
            // A budget or the server's lack of capacity may prevent the retry after a failure.
            _ => op.outlook != RetryOutlook::Open,
        };
        self.measured.ops.failed += u64::from(failed);
        self.measured.ops.failed_for_good += u64::from(op.failed_for_good());
    }

    pub(super) fn abort(&mut self, at: Instant) {
        self.stopping = true;
        for key in self.attempts.keys() {
            self.withdraw(at, key, AttemptResult::plain(Status::Cancelled), false);
        }
    }
}

fn ended(
    attempt: &Attempt,
    op: &Op,
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
