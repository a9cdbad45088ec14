//! From a ready op to an attempt on its way.

use std::cmp::Reverse;
use std::time::Duration;

use tailback::{Launch, Until, Verdict, View};
use vocabulary::Instant;

use super::state::Attempt;
use super::{AttemptKey, Launched, Output, Run};
use crate::op::Place;

/// A strategy that asks to be polled at an instant that is past is polled this much later instead of for ever.
const SHORTEST_WAIT: Duration = Duration::from_micros(1);

impl Run {
    /// Puts an op at the back of its station's queue and sends what may be sent.
    pub(super) fn make_ready(&mut self, op: u32, at: Instant) {
        let held = &mut self.ops[op as usize];
        held.place = Place::Ready;
        let id = held.id;
        let station = self.station_of(id);
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
            if self.ops[op as usize].place == Place::Dead {
                self.stations[station].ready.pop_front();
                self.ops.remove(op as usize);
                continue;
            }
            let candidate = self.candidate(op, station);
            let held = &mut self.stations[station];
            let view = View {
                in_flight: held.in_flight,
                ready: held.ready.len() as u64,
                sleeping: held.sleeping,
                candidate,
            };
            match held.strategy.admit(at, &view) {
                Verdict::Send(permits) => {
                    held.ready.pop_front();
                    held.next_seq += 1;
                    held.in_flight += 1;
                    let in_flight_when_sent = held.in_flight;
                    self.send(
                        at,
                        Attempt {
                            op,
                            station: u32::try_from(station).expect("there are at most 2^32 stations"),
                            serial: self.next_serial,
                            seq: candidate.seq,
                            due: at,
                            in_flight_when_sent,
                            permits,
                        },
                    );
                }
                Verdict::Wait(until) => {
                    wait = Some(until);
                    break;
                }
                Verdict::Shed(outcome) => {
                    held.ready.pop_front();
                    self.measured.attempts.shed += 1;
                    self.after_failure(at, op, outcome);
                }
            }
        }
        let held = &mut self.stations[station];
        if held.ready.is_empty() {
            held.strategy.on_app_limited(at, held.in_flight);
        }
        self.arm(station, at, wait);
    }

    pub(super) fn candidate(&self, op: u32, station: usize) -> Launch {
        let op = &self.ops[op as usize];
        Launch {
            seq: self.stations[station].next_seq,
            op: op.id,
            attempt: op.attempts + 1,
            arrived: op.arrived,
            last: op.last,
        }
    }

    fn send(&mut self, at: Instant, attempt: Attempt) {
        let op = &mut self.ops[attempt.op as usize];
        op.attempts += 1;
        op.place = Place::InFlight;
        let (id, ordinal) = (op.id, op.attempts);
        let slot =
            u32::try_from(self.attempts.insert(attempt)).expect("fewer than 2^32 attempts are in flight");
        let key = AttemptKey { slot, serial: attempt.serial };
        self.next_serial += 1;
        self.timeouts.push_back((at + self.timeout(), key));
        self.measured.on_sent(at, self.attempts.len() as u64);
        self.outbox.push_back(Output::Send(Launched {
            attempt: key,
            client: self.client_of(id),
            op: id,
            ordinal,
            due: at,
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
        }
    }
}
