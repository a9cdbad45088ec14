//! From an attempt's end to what becomes of its op, and the end of the run.

use std::time::Duration;

use slab::Slab;
use tailback::{Ended, FailedOp, Outcome, Retry, Status};
use vocabulary::Instant;

use super::state::Attempt;
use super::{AttemptKey, Completion, Output, Run};
use crate::measure::GivenUp;
use crate::op::Place;
use crate::sample::Sample;

/// Timeouts left behind by answered attempts that are worth a sweep.
const MANY_TIMEOUTS: usize = 4096;

/// Whether this attempt is still in flight.
pub(super) fn is_alive(attempts: &Slab<Attempt>, key: AttemptKey) -> bool {
    attempts.get(key.slot as usize).is_some_and(|held| held.serial == key.serial)
}

/// How long a closed loop's client needs to go on after an op that took no time or was shed: nobody is infinitely
/// fast, and in virtual time such a loop would never leave its instant.
const TURNAROUND: Duration = Duration::from_millis(1);

impl Run {
    /// An attempt ended. One that was already taken back (timed out, withdrawn) is not heard of again.
    pub(super) fn on_ended(&mut self, now: Instant, completion: &Completion) {
        let Some(attempt) = self.take_attempt(completion.attempt) else { return };
        self.measured.send_lag.record_between(attempt.due, completion.sent_at);
        if let Some(seen) = completion.server {
            if self.server.is_some_and(|before| before.cap != seen.cap) {
                // The optimum was planned for another server.
                self.yardstick = None;
                self.cap_changed = true;
            }
            self.server = Some(seen);
            self.measured.on_server_seen(now, seen.busy, seen.cap);
        }
        self.end_attempt(now, attempt, completion.sent_at, completion.outcome);
    }

    /// Removes an attempt from what is in flight, unless it is no longer there.
    pub(super) fn take_attempt(&mut self, key: AttemptKey) -> Option<Attempt> {
        let slot = key.slot as usize;
        self.attempts.get(slot).filter(|attempt| attempt.serial == key.serial)?;
        let attempt = self.attempts.remove(slot);
        // Answered attempts leave their timeouts behind: drops all of them when they are the most.
        if self.timeouts.len() > 2 * self.attempts.len() + MANY_TIMEOUTS {
            let attempts = &self.attempts;
            self.timeouts.retain(|(_, key)| is_alive(attempts, *key));
        }
        Some(attempt)
    }

    /// Tells strategy and measurements of an attempt's end and settles its op.
    pub(super) fn end_attempt(&mut self, at: Instant, attempt: Attempt, sent_at: Instant, outcome: Outcome) {
        let station = attempt.station as usize;
        let op = &mut self.ops[attempt.op as usize];
        op.last = Some(outcome.status);
        let ended = Ended {
            seq: attempt.seq,
            op: u64::from(op.id),
            attempt: op.attempts,
            sent_at,
            in_flight_when_sent: attempt.in_flight_when_sent,
            in_flight: self.stations[station].in_flight,
            ready: self.stations[station].ready.len() as u64,
        };
        let held = &mut self.stations[station];
        held.strategy.on_ended(at, &ended, &outcome, &attempt.permits);
        held.in_flight -= 1;
        self.note_gauges(station, at);
        if self.samples.is_some() {
            self.write_sample(at, &attempt, sent_at, outcome.status);
        }
        self.measured.on_ended(at, outcome.status, sent_at, self.in_flight());
        match outcome.status {
            Status::Succeeded => {
                let op = self.ops.remove(attempt.op as usize);
                self.stall.on_progress(at);
                let client = self.client_of(op.id);
                self.measured.on_success(at, op.arrived, op.attempts, client);
                self.free_place(if op.arrived == at { at + TURNAROUND } else { at });
            }
            Status::Cancelled => self.ops[attempt.op as usize].place = Place::Ready,
            Status::Rejected | Status::Failed(_) | Status::Shed | Status::Deferred => {
                self.after_failure(at, attempt.op, outcome, Duration::ZERO);
                let again = self.ops.get(attempt.op as usize).is_some_and(|op| op.place == Place::Sleeping);
                if again && attempt.due == at && self.sleeping.next() == Some(at) {
                    self.stall.on_fruitless(at);
                }
            }
        }
        self.launch(station, at);
    }

    fn write_sample(&mut self, ended: Instant, attempt: &Attempt, sent: Instant, status: Status) {
        let op = &self.ops[attempt.op as usize];
        let sample = Sample {
            op: u64::from(op.id),
            attempt: op.attempts,
            client: self.client_of(op.id),
            serial: attempt.serial,
            arrived: op.arrived,
            due: attempt.due,
            sent,
            ended,
            status,
            window: self.stations[attempt.station as usize].window,
        };
        if let Some(sink) = &mut self.samples {
            sink(&sample);
        }
    }

    /// Settles an op whose try failed: it sleeps (were it for no time at all), or gives up. With `cost` it took that
    /// much time to find out.
    pub(super) fn after_failure(&mut self, at: Instant, op: u32, outcome: Outcome, cost: Duration) {
        let index = op as usize;
        self.ops[index].failures += 1;
        self.ops[index].last = Some(outcome.status);
        let held = self.ops[index];
        let station = self.station_of(held.id);
        let failed =
            FailedOp { op: u64::from(held.id), arrived: held.arrived, failures: held.failures, outcome };
        let mut state = held.retry_state;
        let past_deadline = self.config.deadline.is_some_and(|deadline| at >= held.arrived + deadline);
        let refused = matches!(outcome.status, Status::Failed(_)) && !self.config.retry_failed;
        let retry = if past_deadline || refused {
            Retry::GiveUp
        } else {
            self.stations[station].strategy.on_failure(at, &failed, held.attempts, &mut state)
        };
        self.ops[index].retry_state = state;
        match retry {
            Retry::GiveUp => {
                self.ops.remove(index);
                let why = if past_deadline { GivenUp::Deadline } else { GivenUp::after(outcome.status) };
                self.measured.on_given_up(at, held.attempts, why, self.client_of(held.id));
                // A client that fails fast is not infinitely fast: else a closed loop would spin at one instant.
                let shed = matches!(outcome.status, Status::Shed | Status::Deferred);
                self.stall.on_end();
                self.free_place(if shed || held.arrived == at { at + TURNAROUND } else { at });
            }
            Retry::After(delay) => {
                let delay = delay.saturating_add(cost);
                self.stall.on_backoff(delay);
                self.ops[index].place = Place::Sleeping;
                self.stations[station].sleeping += 1;
                self.sleeping.push(at + delay, op);
                self.due_at(at + delay);
            }
        }
    }

    /// Sends nothing more.
    pub(super) fn stop(&mut self) {
        self.stopping = true;
        // What was decided but not yet handed out must still go out: strategies and counts know of it.
    }

    /// Withdraws what is in flight.
    pub(super) fn abort(&mut self, at: Instant) {
        self.stop();
        let live: Vec<AttemptKey> = self
            .attempts
            .iter()
            .map(|(slot, attempt)| AttemptKey {
                slot: u32::try_from(slot).expect("fewer than 2^32 attempts are in flight"),
                serial: attempt.serial,
            })
            .collect();
        for key in live {
            if let Some(attempt) = self.take_attempt(key) {
                self.outbox.push_back(Output::Cancel(key));
                self.end_attempt(at, attempt, attempt.due, Outcome::plain(Status::Cancelled));
            }
        }
    }
}
