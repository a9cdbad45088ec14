//! Several policies in order: a request goes through all of them before it is served, and the first that rejects speaks.

mod passing;
mod way;

use std::collections::{BTreeMap, VecDeque};

use vocabulary::Instant;

use crate::answer_facts::AnswerFacts;
use crate::by_policy::Fate;
use crate::details::Details;
use crate::policies::admission::{Admission, Arrived, Load, Released};
use crate::policies::capacity::Capacity;
use crate::policies::common::Common;
use crate::policies::gate::{Gate, Waited};
use crate::policies::holding::Holding;
use crate::request::{Request, RequestId, Verdict};
use crate::service::ServiceModel;

use passing::{Face, Passing};

/// A stack in force.
#[derive(Debug)]
pub(crate) struct Stages {
    gates: Vec<Stage>,
    /// What serves whoever has passed; without it everybody is served for the server's service time.
    server: Option<Box<dyn Admission>>,
    /// Those who are served without it, and rejections that take their time.
    holding: Holding,
    /// Who goes on after a wait, in order of time and then of coming.
    waits: BTreeMap<(Instant, u64), RequestId>,
    /// Waits so far.
    waited: u64,
    /// By request id: how far it is.
    passing: Vec<Passing>,
    /// What takes no time for whoever had to wait before, at its instant.
    ready: VecDeque<(Instant, Released)>,
}

/// A policy of the stack.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) gate: Box<dyn Gate>,
    pub(crate) common: Common,
}

impl Stages {
    /// Nobody has come yet.
    pub(crate) fn new(gates: Vec<Stage>, server: Option<Box<dyn Admission>>) -> Self {
        Self {
            gates,
            server,
            holding: Holding::default(),
            waits: BTreeMap::new(),
            waited: 0,
            passing: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    fn slot(&mut self, id: RequestId) -> &mut Passing {
        let index = id.0 as usize;
        if self.passing.len() <= index {
            self.passing.resize_with(index + 1, Passing::default);
        }
        &mut self.passing[index]
    }

    /// Somebody in a queue goes on, or has waited long enough.
    fn called(&mut self, at: Instant, stage: usize, waited: Waited, service: &ServiceModel) {
        if waited.passes {
            self.pass(at, waited.id, stage, true);
            self.go_on(at, waited.id, stage + 1, service);
        } else {
            self.reject(at, waited.id, stage, None, service);
            self.turn_away_late(at, waited.id, service);
        }
    }
}

impl Admission for Stages {
    fn introduce(&mut self, id: RequestId, details: &Details) {
        let faces: Vec<Face> = self.gates.iter().map(|stage| Face::of(details, &stage.common)).collect();
        self.slot(id).introduce(faces);
    }

    fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived {
        let stages = self.gates.len();
        self.slot(request.id).begin(*request, stages);
        self.walk(at, request.id, 0, service)
    }

    /// No stage is asked, and none hears of it: it never begins to pass them.
    fn refuse(
        &mut self,
        at: Instant,
        request: &Request,
        verdict: Verdict,
        service: &ServiceModel,
    ) -> Arrived {
        *self.slot(request.id) = Passing::default();
        let takes = service.reject_time(request);
        self.holding.take(at, request.id, verdict, false, takes)
    }

    fn cancel(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released> {
        let slot = self.passing.get_mut(id.0 as usize)?;
        if let Some(wait) = slot.wait.take() {
            self.waits.remove(&wait);
            self.finish(at, id, None, service);
            return Some(Released::at_once(id, Verdict::Rejected, self.load().busy));
        }
        if let Some(stage) = slot.queued.take() {
            let asked = slot.asked(stage, &self.gates[stage].common)?;
            self.gates[stage].gate.withdraw(at, &asked, service);
            self.finish(at, id, None, service);
            return Some(Released::at_once(id, Verdict::Rejected, self.load().busy));
        }
        let released = match self.holding.cancel(at, id) {
            None => self.server.as_mut().and_then(|server| server.cancel(at, id, service)),
            held => held,
        };
        if released.is_some() {
            self.finish(at, id, None, service);
        }
        released
    }

    fn advance(&mut self, seed: u64, service: &ServiceModel) -> Option<Released> {
        let at = self.load().next;
        if let Some((_, released)) = self.ready.pop_front() {
            return Some(released);
        }
        if self.holding.load().next == at {
            let released = self.holding.advance()?;
            return Some(self.over(at, released, service));
        }
        if let Some(server) = self.server.as_mut().filter(|server| server.load().next == at) {
            let released = server.advance(seed, service)?;
            return Some(self.over(at, released, service));
        }
        if let Some(entry) = self.waits.first_entry().filter(|entry| entry.key().0 <= at) {
            let id = entry.remove();
            let slot = self.slot(id);
            slot.wait = None;
            let from = slot.passed;
            self.go_on(at, id, from, service);
            return self.ready.pop_front().map(|(_, released)| released);
        }
        for stage in 0..self.gates.len() {
            let gate = &mut self.gates[stage].gate;
            if let Some(waited) =
                gate.next().filter(|next| *next <= at).and_then(|_| gate.advance(at, service))
            {
                self.called(at, stage, waited, service);
                return self.ready.pop_front().map(|(_, released)| released);
            }
        }
        None
    }

    fn load(&self) -> Load {
        let (held, serving) = (self.holding.load(), self.server.as_ref().map(|server| server.load()));
        let serving = serving.unwrap_or(Load::NONE);
        let instants =
            [self.ready.front().map(|(at, _)| *at), self.waits.first_key_value().map(|((at, _), _)| *at)];
        let gates = self.gates.iter().filter_map(|stage| stage.gate.next());
        Load {
            busy: held.busy + serving.busy,
            in_service: held.in_service + serving.in_service,
            next: instants.into_iter().flatten().chain(gates).fold(held.next.min(serving.next), Instant::min),
        }
    }

    fn capacity(&self) -> Capacity {
        if let Some(server) = &self.server {
            return server.capacity();
        }
        // The bound of a single gate that counts all alike is that of all; others say nothing of what is free.
        let counting = self.gates.iter().filter(|stage| stage.common.counts_all_alike());
        let mut bounds =
            counting.map(|stage| stage.gate.capacity()).filter(|capacity| *capacity != Capacity::Unbounded);
        match (bounds.next(), bounds.next()) {
            (Some(bound), None) => bound,
            _ => Capacity::Unbounded,
        }
    }

    fn has_facts(&self) -> bool {
        true
    }

    fn facts(&mut self, id: RequestId) -> AnswerFacts {
        let slot = self.slot(id);
        AnswerFacts {
            stage: slot.rejection.take().map(|rejection| rejection.stage),
            decided_at: slot.decided_at,
            standings: std::mem::take(&mut slot.standings),
            ..AnswerFacts::default()
        }
    }

    fn fate(&self, id: RequestId, verdict: Verdict) -> Option<Fate> {
        let gates = self.gates.len();
        Some(match (self.passing.get(id.0 as usize)?.rejection, verdict) {
            (Some(rejection), _) => Fate { passed: rejection.stage, is_turned_away: true },
            (None, Verdict::Accepted) => {
                Fate { passed: gates + usize::from(self.server.is_some()), is_turned_away: false }
            }
            (None, verdict) => Fate { passed: gates, is_turned_away: verdict == Verdict::Rejected },
        })
    }

    fn tune(&mut self, at: Instant, stage: usize, other: Box<dyn Gate>, service: &ServiceModel) {
        if let Some(stage) = self.gates.get_mut(stage) {
            stage.gate.tune(at, other, service);
        }
    }

    fn call(&mut self, at: Instant, service: &ServiceModel) {
        for stage in &mut self.gates {
            stage.gate.call(at, service);
        }
    }

    fn is_awaited(&self) -> bool {
        self.gates.iter().any(|stage| stage.gate.is_awaited())
    }

    fn evicted_keys(&self) -> u64 {
        self.gates.iter().map(|stage| stage.gate.evicted()).sum()
    }

    fn take_crashes(&mut self) -> u64 {
        self.server.as_mut().map_or(0, |server| server.take_crashes())
    }
}
