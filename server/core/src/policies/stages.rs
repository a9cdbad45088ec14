//! Stack of the server's current policies. A request passes all policies in order before it is served, and the first rejection is final.

mod passing;
mod stage;
mod way;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use vocabulary::Instant;

use crate::by_policy::Fate;
use crate::policies::holding::Holding;
use crate::policies::{Admission, Arrived, Capacity, Decision, Released, StagePolicy, Waited};
use crate::{AnswerFacts, LimitStatus, Request, RequestFields, RequestId, ServerDecision, ServiceModel};

pub(crate) use stage::Stage;

use passing::Passing;
use stage::Face;

/// Stack of the current policies, with all resources that requests hold.
///
/// At every instant that [`next`](Self::next) returns, the server calls [`advance`](Self::advance) before it processes anything else. A
/// request that is [`Done`](Arrived::Done) at its arrival ends there. Any other request is released exactly once later, by `advance` or by
/// [`cancel`](Self::cancel). After its release, the id of the request is reused.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    gates: Vec<Stage>,
    /// Policy that serves the requests that have passed all stages. `None` if each request is served for the server's own service time.
    server: Option<Box<dyn Admission>>,
    advertises_limits: bool,
    /// Requests in service, unless a policy serves them itself. Also contains rejected requests while their rejection takes time.
    holding: Holding,
    /// Delayed requests, ordered by the instant at which their delay ends and then by arrival.
    waits: BTreeMap<(Instant, u64), RequestId>,
    waited: u64,
    /// Cache for the latest request that has HTTP details: the details, and the key and cost that each stage derives from them. The cache
    /// saves work, because many simulated requests share the same details.
    latest: Option<(Arc<RequestFields>, Vec<Face>)>,
    passing: Vec<Passing>,
    /// Responses to requests that had to wait first and then ended without taking time. Each has the instant at which it is due.
    ready: VecDeque<(Instant, Released)>,
    /// Whether any stage may change its charge for a request when the request ends.
    settles: bool,
    queues: Vec<usize>,
    /// Instant of the next event; [`Instant::FAR_FUTURE`] if no event is scheduled. The instant is computed once after every change,
    /// because the server reads it several times per request.
    next: Instant,
    capacity: Capacity,
}

impl Stages {
    /// Creates a stack without requests. `advertises_limits` is false only for a single policy that does not report its limit.
    pub(crate) fn new(
        gates: Vec<Stage>,
        server: Option<Box<dyn Admission>>,
        advertises_limits: bool,
    ) -> Self {
        let mut stages = Self { gates, server, advertises_limits, ..Self::default() };
        stages.look_at_gates();
        stages.next = stages.due();
        stages
    }

    /// Stores the HTTP details of the request that [arrives](Self::arrive) next. This method is not called for a request without details.
    pub(crate) fn introduce(&mut self, id: RequestId, details: &Arc<RequestFields>) {
        self.make_room(id);
        let Self { gates, passing, latest, .. } = self;
        let faces = match latest {
            Some((known, faces)) if Arc::ptr_eq(known, details) => faces,
            _ => {
                let faces = gates.iter().map(|stage| stage.face(details)).collect();
                &mut latest.insert((details.clone(), faces)).1
            }
        };
        passing[id.0 as usize].introduce(faces);
    }

    #[inline]
    pub(crate) fn arrive(&mut self, at: Instant, request: &Request, service: &ServiceModel) -> Arrived {
        self.begin(request);
        let arrived = self.walk(at, request.id, 0, service);
        self.next = self.due();
        arrived
    }

    pub(crate) fn refuse(
        &mut self,
        at: Instant,
        request: &Request,
        verdict: ServerDecision,
        service: &ServiceModel,
    ) -> Arrived {
        let id = request.id;
        self.begin(request);
        let arrived = match &self.server {
            Some(_) if self.gates.is_empty() => Arrived::Done { verdict, advice: None },
            None if !self.advertises_limits => self.refuse_by_cap(at, id, verdict, service),
            // The server has refused the request before any stage of the policy stack. Therefore the stages neither decide on the request
            // nor record it.
            _ => {
                self.passing[id.0 as usize].forget();
                self.holding.take(at, id, verdict, false, service.reject_time(request))
            }
        };
        self.next = self.due();
        arrived
    }

    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released> {
        let released = self.take_back(at, id, service);
        self.next = self.due();
        released
    }

    #[inline]
    pub(crate) fn advance(&mut self, seed: u64, service: &ServiceModel) -> Option<Released> {
        let released = self.happen(self.next, seed, service);
        self.next = self.due();
        released
    }

    #[inline]
    pub(crate) fn busy(&self) -> u32 {
        self.holding.busy + self.server.as_ref().map_or(0, |server| server.load().busy)
    }

    #[inline]
    pub(crate) fn in_service(&self) -> u32 {
        self.holding.in_service + self.server.as_ref().map_or(0, |server| server.load().in_service)
    }

    #[inline]
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    #[inline]
    pub(crate) fn capacity(&self, at: Instant, service: &ServiceModel) -> Option<u32> {
        match self.capacity {
            Capacity::Slots => Some(service.slots(at)),
            Capacity::Own(own) => Some(own),
            Capacity::Unbounded => None,
        }
    }

    pub(crate) fn free(&self, at: Instant, service: &ServiceModel) -> u32 {
        let Some(capacity) = self.capacity(at, service) else { return u32::MAX };
        match &self.server {
            Some(server) if self.gates.is_empty() => server.free(capacity),
            _ => capacity.saturating_sub(self.busy()),
        }
    }

    /// Returns the status of each stage's limit, for the client of the latest request with HTTP details. The status is `None` for a stage
    /// without a limit. As long as no request with details has arrived, it is also `None` for a stage that does not count all requests
    /// alike. An example is a stage that distinguishes clients.
    pub(crate) fn limit_statuses(&mut self, at: Instant, service: &ServiceModel) -> Vec<Option<LimitStatus>> {
        let Self { gates, latest, .. } = self;
        let limit_status = |(index, stage): (usize, &mut Stage)| {
            let key = match latest {
                Some((_, faces)) => faces.get(index)?.key,
                None if stage.common.counts_all_alike() => stage.plain.key,
                None => return None,
            };
            stage.gate.limit_status(at, key, service)
        };
        gates.iter_mut().enumerate().map(limit_status).collect()
    }

    pub(crate) fn has_facts(&self) -> bool {
        self.advertises_limits
    }

    pub(crate) fn tell(&mut self, id: RequestId, facts: &mut AnswerFacts) {
        facts.limit_statuses.clear();
        match self.passing.get_mut(id.0 as usize) {
            Some(slot) if self.advertises_limits => {
                facts.stage = slot.rejection.take().map(|rejection| rejection.stage);
                facts.decided_at = slot.decided_at;
                // Swaps the two vectors, so that the memory of both is reused.
                std::mem::swap(&mut facts.limit_statuses, &mut slot.limit_statuses);
            }
            _ => (facts.stage, facts.decided_at) = (None, Instant::ORIGIN),
        }
    }

    /// Clears the state of an earlier request with this id, because the current request entered no stage.
    pub(crate) fn forget(&mut self, id: RequestId) {
        if let Some(slot) = self.passing.get_mut(id.0 as usize) {
            slot.forget();
        }
    }

    pub(crate) fn fate(&self, id: RequestId, verdict: ServerDecision) -> Option<Fate> {
        let gates = self.gates.len();
        Some(match (self.passing.get(id.0 as usize)?.rejection, verdict) {
            (Some(rejection), _) => Fate { passed: rejection.stage, is_rejected: true },
            (None, ServerDecision::Accepted) => {
                Fate { passed: gates + usize::from(self.server.is_some()), is_rejected: false }
            }
            (None, verdict) => Fate { passed: gates, is_rejected: verdict == ServerDecision::Rejected },
        })
    }

    pub(crate) fn reconfigure(
        &mut self,
        at: Instant,
        stage: usize,
        other: Box<dyn StagePolicy>,
        service: &ServiceModel,
    ) {
        if let Some(stage) = self.gates.get_mut(stage) {
            stage.gate.reconfigure(at, other, service);
        }
        self.look_at_gates();
        self.next = self.due();
    }

    /// Admits queued requests that fit now, after the server's number of slots may have increased.
    pub(crate) fn call(&mut self, at: Instant, service: &ServiceModel) {
        for stage in &mut self.gates {
            stage.gate.call(at, service);
        }
        self.next = self.due();
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.queues.iter().any(|stage| self.gates[*stage].gate.is_awaited())
    }

    pub(crate) fn evicted_keys(&self) -> u64 {
        self.gates.iter().map(|stage| stage.gate.evicted()).sum()
    }

    pub(crate) fn take_crashes(&mut self) -> u64 {
        self.server.as_mut().map_or(0, |server| server.take_crashes())
    }

    fn look_at_gates(&mut self) {
        let Self { gates, queues, .. } = self;
        *queues = (0..gates.len()).filter(|stage| gates[*stage].gate.has_queue()).collect();
        self.settles = gates.iter().any(|stage| stage.settles);
        self.capacity = self.capacity_of_gates();
    }

    fn capacity_of_gates(&self) -> Capacity {
        if let Some(server) = &self.server {
            return server.capacity();
        }
        // The bound of a stage on requests in service applies to all requests only if the stage counts all requests alike. If exactly one
        // stage has such a bound, this bound is the capacity of the whole stack. With no such stage, or with several, the capacity is
        // unknown.
        let counting = self.gates.iter().filter(|stage| stage.common.counts_all_alike());
        let mut bounds =
            counting.map(|stage| stage.gate.capacity()).filter(|capacity| *capacity != Capacity::Unbounded);
        match (bounds.next(), bounds.next()) {
            (Some(bound), None) => bound,
            _ => Capacity::Unbounded,
        }
    }

    #[inline]
    fn due(&self) -> Instant {
        let mut next = self.holding.next();
        if let Some(server) = &self.server {
            next = next.min(server.load().next);
        }
        if let Some((at, _)) = self.ready.front() {
            next = next.min(*at);
        }
        if let Some(((at, _), _)) = self.waits.first_key_value() {
            next = next.min(*at);
        }
        for stage in &self.queues {
            if let Some(at) = self.gates[*stage].gate.next() {
                next = next.min(at);
            }
        }
        next
    }

    #[inline]
    fn begin(&mut self, request: &Request) {
        self.make_room(request.id);
        self.passing[request.id.0 as usize].begin(*request);
    }

    #[inline]
    fn make_room(&mut self, id: RequestId) {
        let index = id.0 as usize;
        if self.passing.len() <= index {
            self.passing.resize_with(index + 1, Passing::default);
        }
    }

    /// Refuses a request at a server whose only policy is a concurrency cap. The cap's own rejections may hold a slot. The refusal may do
    /// so, too, even if other slots are free. If the server is full, the verdict is a rejection, even if `verdict` states another reason.
    fn refuse_by_cap(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: ServerDecision,
        service: &ServiceModel,
    ) -> Arrived {
        let Self { gates, passing, .. } = self;
        let is_free = gates.iter_mut().enumerate().all(|(index, stage)| {
            let asked = passing[id.0 as usize].asked(index, stage);
            asked.is_some_and(|asked| stage.gate.ask(at, &asked, service) == Decision::Pass)
        });
        self.reject(at, id, 0, None, service);
        self.turn_away(at, id, if is_free { verdict } else { ServerDecision::Rejected }, service)
    }

    fn take_back(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released> {
        let slot = self.passing.get_mut(id.0 as usize)?;
        if let Some(wait) = slot.wait.take() {
            self.waits.remove(&wait);
        } else if let Some(index) = slot.queued.take() {
            let stage = &mut self.gates[index];
            let asked = slot.asked(index, stage)?;
            stage.gate.withdraw(at, &asked, service);
        } else {
            let released =
                self.holding.cancel(at, id).or_else(|| self.server.as_mut()?.cancel(at, id, service));
            if released.is_some() {
                self.finish(at, id, None, service);
            }
            return released;
        }
        self.finish(at, id, None, service);
        Some(Released::at_once(id, ServerDecision::Rejected, self.busy()))
    }

    #[inline]
    fn happen(&mut self, at: Instant, seed: u64, service: &ServiceModel) -> Option<Released> {
        if let Some((_, released)) = self.ready.pop_front() {
            return Some(released);
        }
        if self.holding.next() == at {
            let mut released = self.holding.advance()?;
            released.advice = self.over(at, &released, service);
            return Some(released);
        }
        if let Some(server) = self.server.as_mut().filter(|server| server.load().next == at) {
            let mut released = server.advance(seed, service)?;
            released.advice = self.over(at, &released, service);
            return Some(released);
        }
        if let Some(entry) = self.waits.first_entry().filter(|entry| entry.key().0 <= at) {
            let id = entry.remove();
            let slot = &mut self.passing[id.0 as usize];
            slot.wait = None;
            let from = slot.passed;
            let arrived = self.walk(at, id, from, service);
            self.tell_late(at, id, arrived);
            return self.ready.pop_front().map(|(_, released)| released);
        }
        for place in 0..self.queues.len() {
            let stage = self.queues[place];
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

    fn called(&mut self, at: Instant, stage: usize, waited: Waited, service: &ServiceModel) {
        let arrived = if waited.passes {
            self.pass(at, waited.id, stage, true);
            self.walk(at, waited.id, stage + 1, service)
        } else {
            self.reject(at, waited.id, stage, None, service);
            self.turn_away(at, waited.id, ServerDecision::Rejected, service)
        };
        self.tell_late(at, waited.id, arrived);
    }
}
