//! What becomes due by itself: arrivals, ends of back-offs, polls, timeouts, deadlines, the end of patience.

use std::cmp::Reverse;

use vocabulary::Instant;

use super::{Output, Run};
use crate::op::{Op, Place};
use crate::workload::ArrivalProcess;
use tailback::{Failure, Outcome, RetryState, Status};

/// What is due next. At the same instant fresh arrivals come before retries, and those before other timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Arrival,
    Wake,
    Poll,
    Timeout,
    Deadline,
    DrainOver,
    Stall,
}

impl Run {
    /// The instant of whatever is due next.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.next_due().map(|(at, _)| at)
    }

    /// Processes the one thing that is due at `at`, the instant that [`Self::next_timer`] gave.
    pub(super) fn on_timer(&mut self, at: Instant) {
        match self.next_due() {
            Some((_, Due::Arrival)) => {
                if self.next_in_stream.is_some() {
                    self.next_in_stream = self.arrivals.next();
                } else {
                    self.free_places.pop();
                }
                self.arrive(at);
            }
            Some((_, Due::Wake)) => self.on_wake(at),
            Some((_, Due::Poll)) => self.on_poll(at),
            Some((_, Due::Timeout)) => self.on_timeout(at),
            Some((_, Due::Deadline)) => self.on_deadline(at),
            Some((_, Due::DrainOver)) => self.abort(at),
            Some((_, Due::Stall)) => {
                self.stalled_at = Some(at);
                self.abort(at);
            }
            None => {}
        }
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        let mut next = self.timeouts.front().map(|(at, _)| (*at, Due::Timeout));
        let mut consider = |at: Option<Instant>, due: Due| {
            if let Some(at) = at {
                next = Some(next.map_or((at, due), |other| other.min((at, due))));
            }
        };
        if !self.stopping {
            consider(self.next_arrival(), Due::Arrival);
            consider(self.sleeping.peek().map(|Reverse((at, ..))| *at), Due::Wake);
            consider(self.station_timers.peek().map(|Reverse((at, _))| *at), Due::Poll);
            consider(self.deadlines.front().map(|(at, ..)| *at), Due::Deadline);
            consider(self.drain_over(), Due::DrainOver);
            let waits = self.measured.ops.unfinished() > 0;
            consider(waits.then(|| self.stall.stalls_at()), Due::Stall);
        }
        next
    }

    fn drain_over(&self) -> Option<Instant> {
        Some(Instant::ORIGIN + self.config.workload.duration? + self.config.drain?)
    }

    /// When the next op arrives, as far as that is known now.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.next_in_stream.or_else(|| {
            let Reverse(free) = *self.free_places.peek()?;
            self.arrivals.allows(self.measured.ops.arrived, free).then_some(free)
        })
    }

    /// An op ended: in a closed loop its place is free from `at` on.
    pub(super) fn free_place(&mut self, at: Instant) {
        if matches!(self.config.workload.arrivals, ArrivalProcess::Closed { .. }) {
            self.free_places.push(Reverse(at));
        }
    }

    fn arrive(&mut self, at: Instant) {
        let id = self.measured.ops.arrived;
        if self.measured.ops.unfinished() == 0 {
            self.stall.on_progress(at);
        }
        self.measured.on_arrival(at);
        if let Some(yardstick) = &mut self.yardstick {
            yardstick.finish = yardstick.finish.max(yardstick.plan.plan(id, at).finish);
        }
        let op = self.ops.insert(Op {
            arrived: at,
            retry_state: RetryState::default(),
            id,
            attempts: 0,
            failures: 0,
            last: None,
            place: Place::Ready,
        });
        let op = u32::try_from(op).expect("fewer than 2^32 ops wait at once");
        if let Some(deadline) = self.config.deadline {
            self.deadlines.push_back((at + deadline, op, id));
            self.forget_deadlines();
        }
        self.make_ready(op, at);
    }

    /// Ops that ended leave their deadlines behind: drops those when they are the most.
    fn forget_deadlines(&mut self) {
        if self.deadlines.len() > 2 * self.ops.len() + 4096 {
            let ops = &self.ops;
            self.deadlines.retain(|(_, op, id)| ops.get(*op as usize).is_some_and(|held| held.id == *id));
        }
    }

    /// An op's back-off is over.
    fn on_wake(&mut self, at: Instant) {
        let Some(Reverse((_, _, op))) = self.sleeping.pop() else { return };
        let Op { id, place, .. } = self.ops[op as usize];
        if place == Place::Dead {
            self.ops.remove(op as usize);
            return;
        }
        let station = self.station_of(id);
        self.stations[station].sleeping -= 1;
        self.make_ready(op, at);
    }

    /// A strategy asked to be polled now, or its own timer is due.
    fn on_poll(&mut self, at: Instant) {
        let Some(Reverse((_, station))) = self.station_timers.pop() else { return };
        let index = station as usize;
        if self.stations[index].armed != Some(at) {
            return;
        }
        self.stations[index].armed = None;
        self.stations[index].strategy.on_timer(at);
        self.launch(index, at);
    }

    fn on_timeout(&mut self, at: Instant) {
        let Some((_, key)) = self.timeouts.pop_front() else { return };
        if let Some(attempt) = self.take_attempt(key) {
            self.outbox.push_back(Output::Cancel(key));
            let outcome = Outcome::plain(Status::Failed(Failure::Timeout));
            self.end_attempt(at, attempt, attempt.due, outcome);
        }
    }

    /// An op that is not in flight gives up at its deadline; one that is may still succeed.
    fn on_deadline(&mut self, at: Instant) {
        let Some((_, op, id)) = self.deadlines.pop_front() else { return };
        let Some(held) = self.ops.get(op as usize).copied().filter(|held| held.id == id) else { return };
        let station = self.station_of(id);
        match held.place {
            Place::Ready => {}
            Place::Sleeping => self.stations[station].sleeping -= 1,
            Place::InFlight | Place::Dead => return,
        }
        // Its index is still in a queue; whoever finds it there removes it.
        self.ops[op as usize].place = Place::Dead;
        self.measured.on_given_up(at, held.attempts);
        self.free_place(at);
    }
}
