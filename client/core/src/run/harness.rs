//! Observer of a run's dispatcher: measures, detects stalls, and knows the workload.

use std::sync::Arc;

use tailback::{
    Advice, Attempt, Backoff, EndedAttempt, Failure, GiveUp, Host, Method, Op, Outcome, Status, Strategy,
};
use vocabulary::Instant;
use wire::AdvertisedLimits;

use super::advised::{Advised, AskedToWait, Caller};
use super::clocks::Clocks;
use super::drawn::Gauging;
use super::{AttemptResult, Refusal, RunLog, Sample, SampleSink, share_of};
use crate::cause::{Cause, ErrorKind};
use crate::lower_bound::{LeastCosts, LowerBound};
use crate::measure::{GivenUp, Measurements, RateLaw};
use crate::stall::StallWatch;
use crate::workload::{OperationKind, RunConfig};

/// Pause of a closed-loop client after an op that took no time or was shed, if no pause is configured. Without a pause,
/// such a client would be infinitely fast, and in virtual time the run would stay at one instant for ever.
const TURNAROUND: std::time::Duration = std::time::Duration::from_millis(1);

pub(super) struct Harness {
    pub config: RunConfig,
    pub clocks: Clocks,
    pub advised: Advised,
    pub asked_to_wait: AskedToWait,
    /// Number of attempts in flight that wait for a connection.
    pub waiting: usize,
    pub measured: Measurements,
    pub stall: StallWatch,
    pub server: Option<Slots>,
    pub limits: AdvertisedLimits,
    pub cap_changed: bool,
    pub gauging: Gauging,
    /// Lower bound on the makespan of the ops that have arrived. `None` once the server turns out to differ from the
    /// server for which the bound was proven.
    pub lower_bound: Option<LowerBound>,
    /// Number of consecutive attempts, up to the latest, that found no server.
    pub silent_attempts: u64,
    /// Number of ops that had been given up without a failure when the first of `silent_attempts` ended.
    pub given_up_before_silence: u64,
    /// Number of consecutive attempts, up to the latest, that failed.
    pub failed_attempts: u64,
    pub samples: Option<SampleSink>,
    pub log: Option<Box<RunLog>>,
}

#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub busy: u32,
    pub cap: Option<u32>,
}

/// Chance that a retry of an op succeeds, as far as its attempts have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RetryOutlook {
    #[default]
    Open,
    /// The last attempt failed, but a retry may succeed: no answer arrived, or the server answered with 5xx.
    Failed,
    /// The server answered with a status that no retry can change.
    Refused,
}

impl RetryOutlook {
    /// Returns the outlook after an attempt that ended with `status`: whether a retry of the op can still succeed. A
    /// withdrawn attempt does not change the outlook.
    const fn after(self, status: Status) -> Self {
        match status {
            Status::Cancelled => self,
            Status::Failed(Failure::Fatal) => Self::Refused,
            Status::Failed(_) => Self::Failed,
            _ => Self::Open,
        }
    }
}

/// Record of an attempt in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sending {
    /// True if the attempt waits for a connection, so that it is not sent yet.
    pub waits: bool,
    /// True if the attempt was sent although the server had asked its client to wait.
    pub is_early: bool,
}

/// Record of an attempt's answer, beside its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    /// Status under which the attempt is counted. It depends on the server's verdict, if the server reported one, and
    /// otherwise only on the client's own status.
    pub counted: Status,
    pub cause: Option<Cause>,
    pub by_gateway: bool,
}

impl Answered {
    /// Returns the record of an attempt that was withdrawn or timed out.
    fn without_answer(status: Status) -> Self {
        let timed_out = status == Status::Failed(Failure::Timeout);
        let cause = timed_out.then_some(Cause::Error(ErrorKind::Timeout));
        Self { counted: status, cause, by_gateway: false }
    }
}

impl Harness {
    pub(super) fn new(config: RunConfig, instances: usize, costs: Option<Arc<dyn LeastCosts>>) -> Self {
        Self {
            clocks: Clocks::new(&config),
            advised: Advised::default(),
            asked_to_wait: AskedToWait::default(),
            waiting: 0,
            measured: Measurements::new(&config),
            stall: StallWatch::new(config.undisturbed_attempt, config.patience),
            server: None,
            limits: AdvertisedLimits::default(),
            cap_changed: false,
            gauging: Gauging::new(instances),
            lower_bound: costs.and_then(|costs| LowerBound::new(&config, costs)),
            silent_attempts: 0,
            given_up_before_silence: 0,
            failed_attempts: 0,
            samples: None,
            log: None,
            config,
        }
    }

    pub(super) fn client_of(&self, op: u32) -> u32 {
        share_of(op, self.config.clients)
    }

    fn caller_of(&self, op: u32) -> Caller {
        let instance = if self.config.share_strategy { 0 } else { self.client_of(op) };
        (instance, self.config.requests.api_key_of(self.config.seed, op.into()))
    }

    /// Returns whether an attempt of the op at this instant is sent although the server has asked its caller to wait.
    #[inline]
    pub(super) fn is_early(&self, op: u32, at: Instant) -> bool {
        // Fast path: most servers give no advice.
        !self.asked_to_wait.is_empty() && self.asked_to_wait.is_early(self.caller_of(op), at)
    }

    /// Records the arrival of the next op, and returns its number.
    pub(super) fn on_arrival(&mut self, at: Instant) -> u32 {
        if self.measured.ops.unfinished() == 0 {
            if self.measured.first_arrival.is_none() {
                self.stall.downtime = self.config.outages.of_run(at);
            }
            self.stall.on_progress(at);
            self.clocks.rare_at(self.stall.stalls_at());
        }
        let number = self.clocks.arriving.arrive(at);
        let op = u32::try_from(number).expect("a run has fewer than 2^32 ops");
        self.measured.on_arrival(at, self.client_of(op));
        if let Some(bound) = &mut self.lower_bound {
            bound.add(number, at);
        }
        op
    }

    /// Records what an answer shows, before the dispatcher processes the end of its attempt.
    pub(super) fn on_answer(
        &mut self,
        now: Instant,
        attempt: &Attempt<Sending>,
        op: u32,
        sent_at: Instant,
        result: &AttemptResult,
    ) -> Answered {
        self.measured.send_lag.record_between(attempt.due, sent_at);
        let status = result.outcome.status;
        if status == Status::Deferred {
            return Answered { counted: status, cause: None, by_gateway: false };
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
            self.advised.note(attempt.op_slot(), now, wait);
            self.asked_to_wait.note(self.caller_of(op), now, wait);
        }
        let verdict = result.server.and_then(|seen| seen.verdict);
        let counted = verdict.map_or(status, |verdict| verdict.counted(status));
        if result.by_gateway {
            // This answer came from an intermediary. But the lower bound on the makespan and the rate limit hold only
            // for the server alone.
            self.lower_bound = None;
            self.follow_law(None);
            self.measured.attempts.by_gateway += 1;
            self.measured.gateway_successes += u64::from(status == Status::Succeeded);
        }
        Answered { counted, cause: result.cause, by_gateway: result.by_gateway }
    }

    pub(super) fn follow_law(&mut self, law: Option<RateLaw>) {
        // Conditional writes are not compared with the rate limit, because the server also charges the reads that
        // precede them.
        let law = law.filter(|_| self.config.kind == OperationKind::Request);
        self.measured.follow(law, self.config.undisturbed_attempt);
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

    fn write_sample(
        &mut self,
        ended: Instant,
        attempt: &Attempt<Sending>,
        op: &Op<RetryOutlook>,
        sent_at: Instant,
        answered: Answered,
    ) {
        let sample = Sample {
            op: op.id.into(),
            attempt: attempt.ordinal,
            client: self.client_of(op.id),
            serial: attempt.serial,
            arrived: op.arrived,
            due: attempt.due,
            sent: sent_at,
            is_sent: !attempt.data.waits,
            ended,
            status: answered.counted,
            cause: answered.cause,
            by_gateway: answered.by_gateway,
            window: self.gauging.window_of(attempt.client()),
        };
        if let Some(sink) = &mut self.samples {
            sink(&sample);
        }
        if let Some(log) = &mut self.log {
            log.samples.push(sample);
        }
    }

    fn count_given_up(&mut self, at: Instant, slot: u32, op: &Op<RetryOutlook>, why: GivenUp) {
        self.advised.forget(slot);
        if let Some(log) = &mut self.log {
            log.refusals.push(Refusal::GivenUp { op: op.id.into(), at, why });
        }
        self.measured.on_given_up(at, op.attempts, why, self.client_of(op.id));
        let failed = match why {
            GivenUp::Failed => true,
            GivenUp::Deadline => false,
            // A budget or the server's lack of capacity may prevent the retry after a failure.
            _ => op.data != RetryOutlook::Open,
        };
        self.measured.ops.failed += u64::from(failed);
        self.measured.ops.failed_for_good += u64::from(op.data == RetryOutlook::Refused);
    }

    /// Frees the place of an op that ended without success. Even an op that was shed, or that failed at once, occupies its place for some
    /// time. Otherwise a closed loop would repeat for ever at one instant.
    fn free_place_of_failed(&mut self, at: Instant, op: &Op<RetryOutlook>) {
        let shed = matches!(op.last, Some(Status::Shed | Status::Deferred));
        self.stall.on_end();
        self.free_place(at, shed || op.arrived == at);
    }

    fn free_place(&mut self, at: Instant, took_no_time: bool) {
        let pause = match self.config.pause {
            std::time::Duration::ZERO if took_no_time => TURNAROUND,
            pause => pause,
        };
        self.clocks.free_place(at + pause);
    }
}

impl Host for Harness {
    type Op = RetryOutlook;
    type Attempt = Sending;
    type Note = Answered;

    #[inline]
    fn method(&self, op: u32) -> Option<Method> {
        self.config.requests.method_of(self.config.seed, op.into())
    }

    #[inline]
    fn is_late(&self, op: &Op<RetryOutlook>, at: Instant) -> bool {
        self.config.is_late(op.arrived, at)
    }

    #[inline]
    fn retries(&self, _op: &Op<RetryOutlook>, failure: &Outcome) -> bool {
        self.config.retries_failed(failure)
    }

    #[inline]
    fn attempt(&self, at: Instant, _slot: u32, op: &Op<RetryOutlook>) -> Sending {
        Sending { waits: false, is_early: self.is_early(op.id, at) }
    }

    #[inline]
    fn on_sent(&mut self, attempt: &Attempt<Sending>, op: &Op<RetryOutlook>, in_flight: u64) {
        let (sent_at, slot) = (attempt.due, attempt.op_slot());
        if attempt.data.waits {
            return;
        }
        self.measured.early_shared += u64::from(attempt.data.is_early);
        self.measured.attempts.after_final += u64::from(op.data == RetryOutlook::Refused);
        if let Some(not_before) = self.advised.of(slot) {
            self.measured.on_advised_retry(sent_at, not_before);
            self.advised.forget(slot);
        }
        self.measured.on_sent(sent_at, in_flight, op.attempts);
    }

    #[inline]
    fn on_copy(&mut self) {
        self.measured.attempts.duplicates += 1;
    }

    fn on_ended(&mut self, at: Instant, ended: EndedAttempt<'_, Self>) {
        let EndedAttempt { attempt, op, outcome, sent_at, note, in_flight, strategy } = ended;
        let answered = note.copied().unwrap_or_else(|| Answered::without_answer(outcome.status));
        op.data = op.data.after(outcome.status);
        self.on_gauges(at, attempt.client(), strategy);
        if self.samples.is_some() || self.log.is_some() {
            self.write_sample(at, attempt, op, sent_at, answered);
        }
        let Answered { counted, cause, .. } = answered;
        if attempt.data.waits {
            self.waiting -= 1;
            self.measured.on_never_sent(at, in_flight);
        } else {
            self.measured.on_ended(at, counted, sent_at, in_flight);
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

    fn on_unsent(&mut self, at: Instant, attempt: &Attempt<Sending>, in_flight: u64) {
        self.waiting -= usize::from(attempt.data.waits);
        self.measured.on_never_sent(at, in_flight);
    }

    fn on_deferred(&mut self) {
        self.measured.ops.deferred += 1;
    }

    #[inline]
    fn on_gauges(&mut self, at: Instant, client: u32, strategy: &Strategy) {
        if strategy.reports() {
            self.gauging.note(at, client, strategy, &mut self.measured);
        }
    }

    #[inline]
    fn on_launched(&mut self, at: Instant, client: u32, strategy: &Strategy) {
        // Windows change only when attempts end.
        if self.gauging.draws(client) {
            self.on_gauges(at, client, strategy);
        }
    }

    #[inline]
    fn on_wait(&mut self, at: Instant, until: Instant) {
        // A run in which all ops wait for an open circuit breaker does not count as stalled. So the wait is recorded like a backoff.
        self.stall.on_backoff(until.since(at));
    }

    fn on_shed(&mut self, at: Instant, op: u32) {
        if let Some(log) = &mut self.log {
            log.refusals.push(Refusal::Shed { op: op.into(), at });
        }
        self.measured.attempts.shed += 1;
    }

    #[inline]
    fn on_in_vain(&mut self, at: Instant) {
        self.stall.on_in_vain(at);
    }

    #[inline]
    fn on_fruitless(&mut self, at: Instant) {
        self.stall.on_fruitless(at);
    }

    #[inline]
    fn on_asleep(&mut self, at: Instant, backoff: Backoff<'_, Self>) {
        let Backoff { slot, until, is_retried, outcome, strategy, .. } = backoff;
        let delay = until.since(at);
        self.stall.on_backoff(delay);
        if is_retried {
            self.advised.on_asleep(slot, at, until);
            if let (Advice::After(advised), _) | (_, Advice::After(advised)) =
                (outcome.advice, outcome.outer_advice)
                && let Some(followed) = strategy.follows_advice_up_to()
            {
                self.advised.on_long(slot, at, delay, advised, followed);
            }
        }
    }

    #[inline]
    fn on_awake(&mut self, slot: u32) {
        self.advised.on_awake(slot);
    }

    fn on_done(&mut self, at: Instant, slot: u32, op: &Op<RetryOutlook>, note: Option<&Answered>) {
        if let Some(counted) = note.map(|note| note.counted).filter(|counted| *counted != Status::Succeeded) {
            // For the client the op succeeded, but the server reported that it did not do the work. So the op counts as given up.
            self.stall.on_in_vain(at);
            self.count_given_up(at, slot, op, GivenUp::after(counted));
            return self.free_place_of_failed(at, op);
        }
        self.advised.forget(slot);
        self.stall.on_progress(at);
        self.measured.on_success(at, op.arrived, op.attempts, self.client_of(op.id));
        self.free_place(at, op.arrived == at);
    }

    fn on_given_up(&mut self, at: Instant, slot: u32, op: &Op<RetryOutlook>, why: GiveUp) {
        let counted = match why {
            GiveUp::Expired | GiveUp::Late => GivenUp::Deadline,
            GiveUp::After(status) => GivenUp::after(status),
        };
        self.count_given_up(at, slot, op, counted);
        if why == GiveUp::Expired {
            self.clocks.free_place(at + self.config.pause);
        } else {
            self.free_place_of_failed(at, op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_attempt_does_not_change_the_retry_outlook() {
        let refused = RetryOutlook::Open.after(Status::Failed(Failure::Fatal));
        assert_eq!(
            (refused, refused.after(Status::Cancelled)),
            (RetryOutlook::Refused, RetryOutlook::Refused)
        );
        assert_eq!(refused.after(Status::Rejected), RetryOutlook::Open);
        for failure in [Failure::Transport, Failure::Timeout, Failure::Server] {
            assert_eq!(refused.after(Status::Failed(failure)), RetryOutlook::Failed);
        }
    }
}
