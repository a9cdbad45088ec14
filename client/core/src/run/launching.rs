//! From a ready op to an attempt on its way.

use std::cmp::Reverse;
use std::time::Duration;

use tailback::{Carrier, Launch, Permits, Until, Verdict, View};
use vocabulary::Instant;

use super::state::{Attempt, Undecided};
use super::{AttemptKey, Launched, Output, Run};
use crate::op::{Op, Place, Waiting};

/// A strategy that asks to be polled at an instant that is past is polled this much later instead of for ever.
const SHORTEST_WAIT: Duration = Duration::from_micros(1);

impl Run {
    /// Puts an op at the back of its station's queue and sends what may be sent.
    pub(super) fn make_ready(&mut self, op: Waiting, at: Instant) {
        let station = self.station_of(op.id);
        let candidate = self.candidate(op, station);
        self.stations[station].ready.push_back(op);
        self.stations[station].strategy.on_ready(at, &candidate);
        self.launch(station, at);
    }

    /// Sends as many of a station's ready ops as its strategy lets go at `at`.
    pub(super) fn launch(&mut self, station: usize, at: Instant) {
        if self.stopping {
            return;
        }
        let mut wait = None;
        while let Some(&op) = self.stations[station].ready.front() {
            if let Some(slot) = op.slot()
                && self.ops[slot as usize].place == Place::Dead
            {
                self.stations[station].ready.pop_front();
                self.ops.remove(slot as usize);
                continue;
            }
            match self.ask(station, op, at) {
                Verdict::Wait(until) => {
                    wait = Some(until);
                    break;
                }
                verdict => {
                    self.stations[station].ready.pop_front();
                    self.settle(station, op, verdict, at);
                }
            }
        }
        let held = &mut self.stations[station];
        // Retries that are due at this very instant come in a moment.
        let more = held.sleeping > 0 && self.sleeping.next().is_some_and(|wake| wake <= at);
        if held.ready.is_empty() && !more {
            held.strategy.on_app_limited(at, held.in_flight);
        }
        self.arm(station, at, wait);
    }

    fn ask(&mut self, station: usize, op: Waiting, at: Instant) -> Verdict {
        let candidate = self.candidate(op, station);
        let held = &mut self.stations[station];
        let ready = held.ready.len() as u64;
        let view = View { in_flight: held.in_flight, ready, sleeping: held.sleeping, candidate };
        held.strategy.admit(at, &view)
    }

    /// Does what the strategy decided about an op that is in no queue any more.
    fn settle(&mut self, station: usize, op: Waiting, verdict: Verdict, at: Instant) {
        let slot = match op.slot() {
            Some(slot) => slot,
            None => self.hold(Op::new(op.id, op.arrived)),
        };
        match verdict {
            Verdict::Send(permits, carrier) => self.send(station, slot, permits, carrier, at),
            Verdict::Shed(outcome) => {
                self.measured.attempts.shed += 1;
                self.after_failure(at, slot, outcome, Duration::ZERO);
            }
            Verdict::Wait(_) => unreachable!("who waits stays in the queue"),
        }
    }

    pub(super) fn candidate(&self, op: Waiting, station: usize) -> Launch {
        let seq = self.stations[station].next_seq;
        let (attempts, last) = match op.slot() {
            Some(slot) => {
                let held = &self.ops[slot as usize];
                (held.attempts, held.last)
            }
            None => (0, None),
        };
        Launch { seq, op: u64::from(op.id), attempt: attempts + 1, arrived: op.arrived, last }
    }

    fn send(&mut self, station: usize, slot: u32, permits: Permits, carrier: Option<Carrier>, at: Instant) {
        let carrier = carrier.filter(|carrier| carrier.least_free > 0);
        let in_flight = self.attempts.len() as u64 + 1;
        let held = &mut self.stations[station];
        let seq = held.next_seq;
        held.next_seq += 1;
        held.in_flight += 1;
        let attempt = Attempt {
            op: slot,
            station: u32::try_from(station).expect("there are at most 2^32 stations"),
            serial: self.next_serial,
            seq,
            due: at,
            in_flight_when_sent: held.in_flight,
            permits,
            undecided: carrier.map(|carrier| Undecided { cost: carrier.cost, in_flight }),
        };
        self.undecided += usize::from(carrier.is_some());
        let op = &mut self.ops[slot as usize];
        op.attempts += 1;
        op.place = Place::InFlight;
        let (id, ordinal) = (op.id, op.attempts);
        let slot =
            u32::try_from(self.attempts.insert(attempt)).expect("fewer than 2^32 attempts are in flight");
        let key = AttemptKey { slot, serial: attempt.serial };
        self.next_serial += 1;
        let times_out = at + self.timeout();
        self.timeouts.push_back((times_out, key));
        self.rare_at(times_out);
        if carrier.is_none() {
            self.measured.on_sent(at, in_flight, ordinal);
        }
        self.outbox.push_back(Output::Send(Launched {
            attempt: key,
            client: self.client_of(id),
            op: u64::from(id),
            ordinal,
            due: at,
            least_free: carrier.map_or(0, |carrier| carrier.least_free),
        }));
    }

    /// Notes when the station is to be polled again, if by time alone.
    fn arm(&mut self, station: usize, at: Instant, wait: Option<Until>) {
        let held = &mut self.stations[station];
        let asked = match wait {
            Some(Until::At(instant)) => {
                // Waiting for a breaker to close is no stall either.
                self.stall.on_backoff(instant.since(at));
                Some(instant)
            }
            _ => None,
        };
        let Some(next) = [asked, held.strategy.timer()].into_iter().flatten().min() else {
            held.armed = None;
            return;
        };
        let next = if next > at { next } else { at + SHORTEST_WAIT };
        if held.armed != Some(next) {
            held.armed = Some(next);
            let station = u32::try_from(station).expect("there are at most 2^32 stations");
            self.station_timers.push(Reverse((next, station)));
            self.due_at(next);
        }
    }
}
