//! What becomes due by itself: arrivals, ends of back-offs, polls, timeouts, deadlines, the end of patience.

use std::cmp::Reverse;

use vocabulary::Instant;

use super::ending::{End, is_alive};
use super::{Output, Run};
use crate::cause::{Cause, ErrorKind};
use crate::measure::GivenUp;
use crate::op::{Op, Place, Waiting};
use crate::workload::ArrivalProcess;
use tailback::{Failure, Status};

const TIMED_OUT: Status = Status::Failed(Failure::Timeout);

/// What is due next. At the same instant fresh arrivals come before retries, and those before other timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Arrival,
    Wake,
    Poll,
    Timeout,
    Deadline,
    DrainOver,
    Stall,
}

impl Run {
    /// Processes the one thing that is due at `at`, as [`Self::next_due`] told.
    pub(super) fn on_timer(&mut self, at: Instant, due: Due) {
        match due {
            Due::Arrival => {
                if self.next_in_stream.is_some() {
                    self.next_in_stream = self.arrivals.next();
                } else {
                    self.free_places.pop();
                }
                self.arrive(at);
            }
            Due::Wake => self.on_wake(at),
            Due::Poll => self.on_poll(at),
            Due::Timeout => self.on_timeout(at),
            Due::Deadline => self.on_deadline(at),
            Due::DrainOver => self.abort(at),
            Due::Stall => {
                self.stalled_at = Some(at);
                self.abort(at);
            }
        }
    }

    /// What is due next, and when.
    pub(super) fn next_due(&mut self) -> Option<(Instant, Due)> {
        if self.stopping {
            self.forget_timeouts();
            return self.timeouts.front().map(|(at, _)| (*at, Due::Timeout));
        }
        let unfinished = self.measured.ops.unfinished();
        let stalls = self.stall.spins_at(unfinished).or_else(|| self.stall.worn_out_at(unfinished));
        if let Some(at) = stalls {
            return Some((at, Due::Stall));
        }
        let mut next = self.next_arrival().map(|at| (at, Due::Arrival));
        sooner(&mut next, self.sleeping.next(), Due::Wake);
        sooner(&mut next, self.station_timers.peek().map(|Reverse((at, _))| *at), Due::Poll);
        // The rest hardly ever comes, and looking at all of it costs more than looking at one instant.
        if next.is_none_or(|(at, _)| at >= self.rare_not_before) {
            self.forget_timeouts();
            let rare = self.next_rare();
            self.rare_not_before = rare.map_or(Instant::FAR_FUTURE, |(at, _)| at);
            if let Some((at, due)) = rare {
                sooner(&mut next, Some(at), due);
            }
        }
        next
    }

    /// Drops the timeouts of answered attempts from the front, so that the first means somebody.
    fn forget_timeouts(&mut self) {
        while self.timeouts.front().is_some_and(|(_, key)| !is_alive(&self.attempts, *key)) {
            self.timeouts.pop_front();
        }
    }

    fn next_rare(&self) -> Option<(Instant, Due)> {
        let mut next = self.timeouts.front().map(|(at, _)| (*at, Due::Timeout));
        sooner(&mut next, self.deadlines.front().map(|(at, ..)| *at), Due::Deadline);
        sooner(&mut next, self.drain_over(), Due::DrainOver);
        let waits = self.measured.ops.unfinished() > 0;
        sooner(&mut next, waits.then(|| self.stall.stalls_at()), Due::Stall);
        next
    }

    /// A rare timer was set for `at`.
    pub(super) fn rare_at(&mut self, at: Instant) {
        self.rare_not_before = self.rare_not_before.min(at);
        self.due_at(at);
    }

    /// Something was set for `at`.
    pub(super) fn due_at(&mut self, at: Instant) {
        self.quiet_until = self.quiet_until.min(at);
    }

    fn drain_over(&self) -> Option<Instant> {
        Some(Instant::ORIGIN + self.config.workload.duration? + self.config.drain?)
    }

    /// When the next op arrives, as far as that is known now.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.next_in_stream.or_else(|| {
            let Reverse(free) = *self.free_places.peek()?;
            // Over HTTP answers may come out of order; ops are numbered as they arrive all the same.
            let free = free.max(self.last_arrival);
            self.arrivals.allows(self.measured.ops.arrived, free).then_some(free)
        })
    }

    /// An op ended: in a closed loop its place is free from `at` on.
    pub(super) fn free_place(&mut self, at: Instant) {
        if matches!(self.config.workload.arrivals, ArrivalProcess::Closed { .. }) {
            self.free_places.push(Reverse(at));
            self.due_at(at);
        }
    }

    fn arrive(&mut self, at: Instant) {
        let arrived = self.measured.ops.arrived;
        let id = u32::try_from(arrived).expect("a run has fewer than 2^32 ops");
        if self.measured.ops.unfinished() == 0 {
            self.stall.on_progress(at);
            self.rare_at(self.stall.stalls_at());
        }
        self.last_arrival = at;
        self.measured.on_arrival(at, self.client_of(id));
        if let Some(bound) = &mut self.lower_bound {
            bound.add(arrived, at);
        }
        let waiting = match self.config.deadline {
            None => Waiting::fresh(id, at),
            // It must be found when its deadline comes.
            Some(deadline) => {
                let op = Op::new(id, at);
                let slot = self.hold(op);
                self.deadlines.push_back((at + deadline, slot, id));
                self.rare_at(at + deadline);
                self.forget_deadlines();
                Waiting::held(slot, &op)
            }
        };
        self.make_ready(waiting, at);
    }

    /// Keeps an op of which more is to be known than its arrival.
    pub(super) fn hold(&mut self, op: Op) -> u32 {
        u32::try_from(self.ops.insert(op)).expect("fewer than 2^32 ops wait at once")
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
        let Some(op) = self.sleeping.pop() else { return };
        let held = self.ops[op as usize];
        if held.place == Place::Dead {
            self.ops.remove(op as usize);
            return;
        }
        self.ops[op as usize].place = Place::Ready;
        let station = self.station_of(held.id);
        self.stations[station].sleeping -= 1;
        self.make_ready(Waiting::held(op, &held), at);
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
            let cause = Some(Cause::Error(ErrorKind::Timeout));
            self.end_attempt(at, attempt, End::without_answer(&attempt, TIMED_OUT, cause));
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
        self.measured.on_given_up(at, held.attempts, GivenUp::Deadline, self.client_of(id));
        self.measured.ops.failed_for_good += u64::from(held.failed_for_good);
        self.free_place(at);
    }
}

/// Takes `at` when it comes before `next`.
fn sooner(next: &mut Option<(Instant, Due)>, at: Option<Instant>, due: Due) {
    if let Some(at) = at
        && next.is_none_or(|next| (at, due) < next)
    {
        *next = Some((at, due));
    }
}
