//! The whole server: the network leg, admission, the ledger, in one state machine.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use vocabulary::Instant;
use vocabulary::wire::{RunId, ServerStats};

use crate::concurrency_cap::{ConcurrencyCap, Released};
use crate::config::Config;
use crate::ledger::Ledger;
use crate::request::{Answer, Input, Output, Request, RequestId, Verdict};

/// The throttling server.
#[derive(Debug)]
pub struct Server {
    config: Config,
    admission: ConcurrencyCap,
    ledger: Ledger,
    /// Rises with every reset; what began in an earlier one is not counted.
    epoch: u64,
    /// Requests on their way to admission, by instant and then by order of arrival.
    leg: BinaryHeap<Reverse<(Instant, u64, RequestId)>>,
    arrivals: u64,
    /// By request id; `None` once answered or cancelled.
    requests: Vec<Option<Held>>,
    answers: VecDeque<Answer>,
}

/// A request between arrival and answer.
#[derive(Clone, Copy, Debug)]
struct Held {
    request: Request,
    epoch: u64,
    /// Which entry of the leg is its own: ids are used again.
    arrival: u64,
}

impl Server {
    /// A server without requests. The configuration should have passed [`Config::validate`].
    pub fn new(config: Config) -> Self {
        Self {
            config,
            admission: ConcurrencyCap::default(),
            ledger: Ledger::default(),
            epoch: 0,
            leg: BinaryHeap::new(),
            arrivals: 0,
            requests: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    /// Something happened at `now`.
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.advance(now);
        match input {
            Input::Arrive(request) => self.arrive(now, request),
            Input::Cancel(id) => self.cancel(now, id),
            Input::Configure(config) => self.config = config,
            Input::Reset => {
                self.epoch += 1;
                self.ledger = Ledger::default();
            }
        }
    }

    /// What is to be done; call again until it answers with [`Output::WaitUntil`] or [`Output::Idle`].
    pub fn poll(&mut self, now: Instant) -> Output {
        if self.answers.is_empty() {
            self.advance(now);
        }
        if let Some(answer) = self.answers.pop_front() {
            return Output::Answer(answer);
        }
        self.next().map_or(Output::Idle, Output::WaitUntil)
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Slots busy, rejections that hold one included.
    pub fn busy(&self) -> u32 {
        self.admission.busy()
    }

    /// What was counted, of one run or of all since the last reset. The shell fills in its uptime and instance.
    pub fn stats(&mut self, now: Instant, run: Option<RunId>) -> ServerStats {
        self.advance(now);
        let account = self.ledger.account(run);
        ServerStats {
            counts: account.counts,
            busy: u64::from(self.busy()),
            wasted_ms: account.wasted.as_secs_f64() * 1e3,
            epoch: self.epoch,
            ..ServerStats::default()
        }
    }

    /// Processes everything that is due by `now`, each at its own instant; ends of service come first.
    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.next().filter(|at| *at <= now) {
            if self.admission.next() == Some(at) {
                if let Some(released) = self.admission.finish_next() {
                    self.answer(at, released);
                }
            } else if let Some(Reverse((_, arrival, id))) = self.leg.pop()
                && let Some(held) = self.requests[id.0 as usize].filter(|held| held.arrival == arrival)
            {
                self.admit(at, held);
            }
        }
    }

    /// Drops the legs of cancelled requests when they are the most.
    fn forget_stale_legs(&mut self) {
        if self.leg.len() > 2 * self.requests.len() {
            let requests = &self.requests;
            let alive =
                |id: RequestId, arrival| requests[id.0 as usize].is_some_and(|held| held.arrival == arrival);
            self.leg.retain(|Reverse((_, arrival, id))| alive(*id, *arrival));
        }
    }

    fn next(&self) -> Option<Instant> {
        let leg = self.leg.peek().map(|Reverse((at, ..))| *at);
        [self.admission.next(), leg].into_iter().flatten().min()
    }

    fn arrive(&mut self, now: Instant, request: Request) {
        let index = request.id.0 as usize;
        if self.requests.len() <= index {
            self.requests.resize(index + 1, None);
        }
        let held = Held { request, epoch: self.epoch, arrival: self.arrivals };
        self.arrivals += 1;
        self.requests[index] = Some(held);
        let delay = request.network_delay(&self.config);
        if delay.is_zero() {
            self.admit(now, held);
        } else {
            self.leg.push(Reverse((now + delay, held.arrival, request.id)));
        }
    }

    fn admit(&mut self, at: Instant, held: Held) {
        let (verdict, released) = self.admission.arrive(at, &held.request, &self.config);
        if held.epoch == self.epoch {
            // What takes no time was in service, too, if only for that moment.
            let passing = u32::from(released.is_some() && verdict == Verdict::Accepted);
            let busy = self.admission.busy() + passing;
            let in_service = self.admission.in_service() + passing;
            self.ledger.on_admission(held.request.run, verdict, busy, in_service);
        }
        if let Some(released) = released {
            self.answer(at, released);
        }
    }

    fn answer(&mut self, at: Instant, released: Released) {
        let Some(held) = self.requests[released.id.0 as usize].take() else { return };
        if released.verdict == Verdict::Rejected && held.epoch == self.epoch {
            self.ledger.on_waste(held.request.run, released.held);
        }
        self.answers.push_back(Answer {
            id: released.id,
            verdict: released.verdict,
            at,
            busy: released.busy,
            cap: self.config.max_busy,
            version: 0,
        });
    }

    fn cancel(&mut self, now: Instant, id: RequestId) {
        let Some(held) = self.requests.get_mut(id.0 as usize).and_then(Option::take) else {
            // Its answer may be on its way out; nobody is there to take it.
            self.answers.retain(|answer| answer.id != id);
            return;
        };
        match self.admission.cancel(now, id) {
            Some(released) if held.epoch == self.epoch => {
                self.ledger.on_waste(held.request.run, released.held);
            }
            Some(_) => {}
            None => self.forget_stale_legs(),
        }
    }
}

#[cfg(test)]
mod tests;
