//! Stack of the server's current policies. A request passes all policies in order before it is served, and the first rejection is final.

mod stage;
mod way;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use vocabulary::Instant;

use crate::agenda::{Agenda, Lane};
use crate::by_policy::Fate;
use crate::policies::{Admission, Arrived, Capacity, Decision, Released, StagePolicy, Waited};
use crate::slot::{Place, Rejection, Slot};
use crate::{LimitStatus, RequestFields, RequestId, ServerDecision, ServiceModel};

pub(crate) use stage::{Face, Stage};

/// Stack of the current policies, with all resources that requests hold.
///
/// A request that is [`Done`](Arrived::Done) at its arrival ends there. Any other request is released exactly once later: by
/// [`release`](Self::release) at the end of its service or rejection, by [`advance`](Self::advance), or by [`cancel`](Self::cancel). After
/// its release, the id of the request is reused.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    gates: Vec<Stage>,
    /// Policy that serves the requests that have passed all stages. `None` if each request is served for the server's own service time.
    server: Option<Box<dyn Admission>>,
    advertises_limits: bool,
    /// Number of requests that are busy, without those of the policy `server`.
    busy: u32,
    in_service: u32,
    /// Delayed requests, ordered by the instant at which their delay ends and then by arrival.
    waits: BTreeMap<(Instant, u64), RequestId>,
    waited: u64,
    /// Cache for the latest request that has HTTP details: the details, and the key and cost that each stage derives from them. The cache
    /// saves work, because many simulated requests share the same details.
    latest: Option<(Arc<RequestFields>, Vec<Face>)>,
    /// Whether any stage may change its charge for a request when the request ends.
    settles: bool,
    queues: Vec<usize>,
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
        stages
    }

    /// Stores the HTTP details of the request that [arrives](Self::walk) next. This method is not called for a request without details.
    pub(crate) fn introduce(&mut self, slot: &mut Slot, details: &Arc<RequestFields>) {
        let Self { gates, latest, .. } = self;
        let faces = match latest {
            Some((known, faces)) if Arc::ptr_eq(known, details) => faces,
            _ => {
                let faces = gates.iter().map(|stage| stage.face(details)).collect();
                &mut latest.insert((details.clone(), faces)).1
            }
        };
        slot.faces.extend_from_slice(faces);
    }

    pub(crate) fn refuse(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        verdict: ServerDecision,
        agenda: &mut Agenda,
        service: &ServiceModel,
    ) -> Arrived {
        match &self.server {
            Some(_) if self.gates.is_empty() => Arrived::Done { verdict, advice: None },
            None if !self.advertises_limits => self.refuse_by_cap(at, slot, verdict, agenda, service),
            _ => {
                slot.rejection = Some(Rejection { stage: None, free_at: None, occupies: false });
                self.hold(at, slot, verdict, false, service.reject_time(&slot.request), agenda)
            }
        }
    }

    /// Starts the time between the decision on a request and its response; `takes` is the length of this time. An accepted request counts
    /// as busy during this time. A rejected request counts as busy only with the setting `rejects_occupy`.
    #[inline]
    fn hold(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        verdict: ServerDecision,
        rejects_occupy: bool,
        takes: Duration,
        agenda: &mut Agenda,
    ) -> Arrived {
        if takes.is_zero() {
            return Arrived::Done { verdict, advice: None };
        }
        let accepted = verdict == ServerDecision::Accepted;
        slot.occupies = accepted || rejects_occupy;
        self.busy += u32::from(slot.occupies);
        self.in_service += u32::from(accepted);
        let lane = if accepted { Lane::Services } else { Lane::Rejections };
        (slot.place, slot.since, slot.answer.verdict) = (Place::Held, at, verdict);
        slot.event = agenda.push(lane, at + takes, slot.request.id);
        Arrived::Admitted(verdict)
    }

    /// Ends the time for which a request was [held](Place::Held).
    #[inline]
    fn let_go(&mut self, at: Instant, slot: &Slot) -> Released {
        let (busy, verdict) = (self.busy, slot.answer.verdict);
        self.busy -= u32::from(slot.occupies);
        self.in_service -= u32::from(verdict == ServerDecision::Accepted);
        let held = if slot.occupies { at.since(slot.since) } else { Duration::ZERO };
        Released { held, ..Released::at_once(slot.request.id, verdict, busy) }
    }

    /// Ends a request whose service time or reject time has elapsed.
    #[inline]
    pub(crate) fn release(&mut self, at: Instant, slot: &mut Slot, service: &ServiceModel) -> Released {
        let released = self.let_go(at, slot);
        Released { advice: self.over(at, &released, slot, service), ..released }
    }

    /// Ends a request that its client withdrew. Returns `None` if the request is on the network.
    pub(crate) fn cancel(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        service: &ServiceModel,
    ) -> Option<Released> {
        let released = match slot.place {
            Place::Gone | Place::Coming | Place::Going => return None,
            Place::Waiting => {
                self.waits.remove(&slot.wait);
                None
            }
            Place::Queued => {
                let index = slot.passed;
                let stage = &mut self.gates[index];
                stage.gate.withdraw(at, &slot.asked(index, stage), service);
                None
            }
            Place::Held => Some(self.let_go(at, slot)),
            Place::Served => Some(self.server.as_mut()?.cancel(at, slot.request.id, service)?),
        };
        self.finish(at, slot, None, service);
        released.or_else(|| Some(Released::at_once(slot.request.id, ServerDecision::Rejected, self.busy())))
    }

    #[inline]
    pub(crate) fn busy(&self) -> u32 {
        self.busy + self.server.as_ref().map_or(0, |server| server.load().busy)
    }

    #[inline]
    pub(crate) fn in_service(&self) -> u32 {
        self.in_service + self.server.as_ref().map_or(0, |server| server.load().in_service)
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
            stage.limit_status(at, key, service)
        };
        gates.iter_mut().enumerate().map(limit_status).collect()
    }

    pub(crate) fn has_facts(&self) -> bool {
        self.advertises_limits
    }

    /// Completes the facts of a request's answer.
    pub(crate) fn tell(&self, slot: &mut Slot) {
        let stage = slot.rejection.filter(|_| self.advertises_limits).and_then(|rejection| rejection.stage);
        slot.facts().stage = stage;
    }

    pub(crate) fn fate(&self, slot: &Slot, verdict: ServerDecision) -> Fate {
        let gates = self.gates.len();
        match (slot.rejection, verdict) {
            (Some(rejection), _) => Fate { passed: rejection.stage.unwrap_or_default(), is_rejected: true },
            (None, ServerDecision::Accepted) => {
                Fate { passed: gates + usize::from(self.server.is_some()), is_rejected: false }
            }
            (None, verdict) => Fate { passed: gates, is_rejected: verdict == ServerDecision::Rejected },
        }
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
    }

    /// Admits queued requests that fit now, after the server's number of slots may have increased.
    pub(crate) fn call(&mut self, at: Instant, service: &ServiceModel) {
        for stage in &mut self.gates {
            stage.gate.call(at, service);
        }
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

    /// Returns the instant of the next event that is not in the agenda: a wait or a place in a queue ends, or the policy that serves
    /// requests has an event. [`Instant::FAR_FUTURE`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Instant {
        // Fast path: most servers have no such events.
        if self.server.is_none() && self.queues.is_empty() && self.waits.is_empty() {
            return Instant::FAR_FUTURE;
        }
        self.next_of_few()
    }

    fn next_of_few(&self) -> Instant {
        let server = self.server.iter().map(|server| server.load().next);
        let waits = self.waits.first_key_value().map(|((at, _), _)| *at);
        let queues = self.queues.iter().filter_map(|stage| self.gates[*stage].gate.next());
        server.chain(waits).chain(queues).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Refuses a request at a server whose only policy is a concurrency cap. The cap's own rejections may hold a slot. The refusal may do
    /// so, too, even if other slots are free. If the server is full, the verdict is a rejection, even if `verdict` states another reason.
    fn refuse_by_cap(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        verdict: ServerDecision,
        agenda: &mut Agenda,
        service: &ServiceModel,
    ) -> Arrived {
        let is_free = self.gates.iter_mut().enumerate().all(|(index, stage)| {
            let asked = slot.asked(index, stage);
            stage.gate.ask(at, &asked, service) == Decision::Pass
        });
        self.reject(at, slot, 0, None, service);
        self.turn_away(at, slot, if is_free { verdict } else { ServerDecision::Rejected }, agenda, service)
    }

    /// Processes one event of those at [`next`](Self::next) that is due at `at`. Returns the request that ends at once, if one does.
    pub(crate) fn advance(
        &mut self,
        at: Instant,
        slots: &mut [Slot],
        agenda: &mut Agenda,
        seed: u64,
        service: &ServiceModel,
    ) -> Option<Released> {
        if let Some(server) = self.server.as_mut().filter(|server| server.load().next == at) {
            let released = server.advance(seed, service)?;
            let slot = &mut slots[released.id.0 as usize];
            return Some(Released { advice: self.over(at, &released, slot, service), ..released });
        }
        if let Some(entry) = self.waits.first_entry().filter(|entry| entry.key().0 <= at) {
            let slot = &mut slots[entry.remove().0 as usize];
            let arrived = self.walk(at, slot, slot.passed, agenda, service);
            return self.ended_at_once(slot.request.id, arrived);
        }
        for place in 0..self.queues.len() {
            let stage = self.queues[place];
            let gate = &mut self.gates[stage].gate;
            if let Some(waited) =
                gate.next().filter(|next| *next <= at).and_then(|_| gate.advance(at, service))
            {
                let slot = &mut slots[waited.id.0 as usize];
                let arrived = self.called(at, stage, waited, slot, agenda, service);
                return self.ended_at_once(waited.id, arrived);
            }
        }
        None
    }

    fn called(
        &mut self,
        at: Instant,
        stage: usize,
        waited: Waited,
        slot: &mut Slot,
        agenda: &mut Agenda,
        service: &ServiceModel,
    ) -> Arrived {
        if waited.passes {
            self.pass(at, slot, stage, true);
            self.walk(at, slot, stage + 1, agenda, service)
        } else {
            self.reject(at, slot, stage, None, service);
            self.turn_away(at, slot, ServerDecision::Rejected, agenda, service)
        }
    }

    /// Returns the end of a request that had to wait first and then ended without taking time.
    fn ended_at_once(&self, id: RequestId, arrived: Arrived) -> Option<Released> {
        let (verdict, advice, reply) = match arrived {
            // The request does not end here. Its end is a separate event at a later time.
            Arrived::Open | Arrived::Admitted(_) => return None,
            Arrived::Done { verdict, advice } => (verdict, advice, None),
            Arrived::Scripted { verdict, reply } => (verdict, None, Some(reply)),
        };
        let busy = self.busy() + u32::from(verdict == ServerDecision::Accepted);
        Some(Released { advice, reply, ..Released::at_once(id, verdict, busy) })
    }
}
