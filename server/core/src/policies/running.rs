//! The policy in force, with what is asked of it far more often than it changes.

use vocabulary::Instant;

use crate::answer_facts::AnswerFacts;
use crate::by_policy::Fate;
use crate::details::Details;
use crate::policies::admission::{Admission, Arrived, Load, Released};
use crate::policies::capacity::Capacity;
use crate::policies::gate::Gate;
use crate::request::{Request, RequestId, Verdict};
use crate::service::ServiceModel;

/// A policy whose [`Load`] is asked for once after every change: calls through the trait cost, and the server looks at it
/// several times per request.
#[derive(Debug)]
pub(crate) struct Running {
    admission: Box<dyn Admission>,
    load: Load,
    capacity: Capacity,
}

impl Running {
    pub(crate) fn new(admission: Box<dyn Admission>) -> Self {
        Self { load: admission.load(), capacity: admission.capacity(), admission }
    }

    /// What it carries just now.
    pub(crate) fn load(&self) -> Load {
        self.load
    }

    /// See [`Admission::introduce`].
    pub(crate) fn introduce(&mut self, id: RequestId, details: &Details) {
        self.admission.introduce(id, details);
    }

    /// See [`Admission::arrive`] and, with a refusal, [`Admission::refuse`].
    pub(crate) fn arrive(
        &mut self,
        at: Instant,
        request: &Request,
        refusal: Option<Verdict>,
        service: &ServiceModel,
    ) -> Arrived {
        let arrived = match refusal {
            None => self.admission.arrive(at, request, service),
            Some(refusal) => self.admission.refuse(at, request, refusal, service),
        };
        self.load = self.admission.load();
        arrived
    }

    /// See [`Admission::cancel`].
    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Option<Released> {
        let released = self.admission.cancel(at, id, service);
        self.load = self.admission.load();
        released
    }

    /// See [`Admission::advance`].
    pub(crate) fn advance(&mut self, seed: u64, service: &ServiceModel) -> Option<Released> {
        let released = self.admission.advance(seed, service);
        self.load = self.admission.load();
        released
    }

    /// How much there is of what can be busy at this instant, if that is bounded.
    pub(crate) fn capacity(&self, at: Instant, service: &ServiceModel) -> Option<u32> {
        match self.capacity {
            Capacity::Slots => Some(service.slots(at)),
            Capacity::Own(own) => Some(own),
            Capacity::Unbounded => None,
        }
    }

    /// How much of it is free.
    pub(crate) fn free(&self, at: Instant, service: &ServiceModel) -> u32 {
        self.capacity(at, service).map_or(u32::MAX, |capacity| self.admission.free(capacity))
    }

    /// See [`Admission::tune`].
    pub(crate) fn tune(&mut self, at: Instant, stage: usize, other: Box<dyn Gate>, service: &ServiceModel) {
        self.admission.tune(at, stage, other, service);
        (self.load, self.capacity) = (self.admission.load(), self.admission.capacity());
    }

    /// See [`Admission::call`].
    pub(crate) fn call(&mut self, at: Instant, service: &ServiceModel) {
        self.admission.call(at, service);
        self.load = self.admission.load();
    }

    /// See [`Admission::is_awaited`].
    pub(crate) fn is_awaited(&self) -> bool {
        self.admission.is_awaited()
    }

    /// See [`Admission::has_facts`].
    pub(crate) fn has_facts(&self) -> bool {
        self.admission.has_facts()
    }

    /// See [`Admission::facts`].
    pub(crate) fn facts(&mut self, id: RequestId) -> AnswerFacts {
        self.admission.facts(id)
    }

    /// See [`Admission::fate`].
    pub(crate) fn fate(&self, id: RequestId, verdict: Verdict) -> Option<Fate> {
        self.admission.fate(id, verdict)
    }

    /// See [`Admission::evicted_keys`].
    pub(crate) fn evicted_keys(&self) -> u64 {
        self.admission.evicted_keys()
    }

    /// See [`Admission::take_crashes`].
    pub(crate) fn take_crashes(&mut self) -> u64 {
        self.admission.take_crashes()
    }
}
