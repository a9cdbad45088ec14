//! Path of a request through the server: arrival, admission, the decision if it is made later than admission, and the answer.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::Instant;

use crate::agenda::Lane;
use crate::ledger::Of;
use crate::policies::{Arrived, Released};
use crate::request::NetworkLeg;
use crate::slot::{Place, Slot};
use crate::{Answer, Fault, Request, RequestFields, RequestId, Server, ServerDecision, Step};

impl Server {
    #[inline]
    pub(super) fn meet(
        &mut self,
        now: Instant,
        request: &Request,
        least: u32,
        details: Option<Arc<RequestFields>>,
    ) {
        self.on_arrival(now, request);
        self.follow_schedule(now);
        if least > 0 && self.free(now) < u64::from(least) {
            return self.defer(now, request);
        }
        let epoch = self.epoch;
        let slot = self.slot(request.id);
        slot.begin(request, epoch);
        slot.details = details;
        self.arrive(now, request);
    }

    /// Returns the state of a request, whose id may be new.
    #[inline]
    fn slot(&mut self, id: RequestId) -> &mut Slot {
        let index = id.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, Slot::default);
        }
        &mut self.slots[index]
    }

    fn arrive(&mut self, now: Instant, request: &Request) {
        let index = request.id.0 as usize;
        if request.is_lost(NetworkLeg::ToServer, self.config.loss) {
            return self.ledger.note(self.of(&self.slots[index]), |account| account.lost_requests += 1);
        }
        self.check_earliness(now, index);
        let delay = request.network_delay(&self.config.network_delay);
        if delay.is_zero() {
            let answer = self.admit(now, request.id);
            self.answers.extend(answer);
        } else {
            self.slots[index].event = self.agenda.push(Lane::Coming, now + delay, request.id);
        }
    }

    fn check_earliness(&mut self, now: Instant, index: usize) {
        let (Some(early), slot) = (&mut self.early_retries, &mut self.slots[index]) else { return };
        slot.client = slot.details.as_ref().map(|details| early.client(details));
        let is_early = slot.client.is_some_and(|client| early.is_early(now, client));
        // Only a retry can be too early. If the request belongs to a run, its attempt number shows whether it is a retry. The attempt
        // number of any other request is unknown, so such a request is treated as a retry.
        let is_retry = slot.request.run.is_none() || slot.request.attempt > 1;
        if is_early && is_retry {
            self.ledger.note(self.of(&self.slots[index]), |account| account.early += 1);
        }
    }

    /// Answers a request at once, because less capacity is free than the request needs to start. Apart from the answer, the server's state
    /// does not change.
    fn defer(&mut self, now: Instant, request: &Request) {
        let (id, verdict, version) = (request.id, ServerDecision::Deferred, self.version);
        let (busy, cap) = (self.busy(), self.capacity(now));
        let answer = Answer { id, verdict, at: now, busy, cap, version, ..Answer::default() };
        let slot = self.slot(id);
        (slot.request, slot.answer) = (*request, answer);
        self.answers.push_back(id);
    }

    /// Processes a request that reaches admission. Returns its answer if the answer is due at once.
    #[inline]
    pub(super) fn admit(&mut self, at: Instant, id: RequestId) -> Option<RequestId> {
        let slot = &self.slots[id.0 as usize];
        let Request { step, attempt, .. } = slot.request;
        let of = self.of(slot);
        if self.is_down(at) {
            if step != Step::Read {
                self.ledger.note(of, |account| account.outages += 1);
            }
            return self.turn_away(at, id, ServerDecision::Rejected);
        }
        if !self.is_plain && self.config.fault.strike_before(&slot.request) {
            return self.turn_away(at, id, ServerDecision::Failed);
        }
        let refusal = match step {
            _ if attempt <= self.config.reject_first => Some(ServerDecision::Rejected),
            Step::Write { if_match } if if_match != self.version => Some(ServerDecision::Conflict),
            _ => None,
        };
        let Self { slots, policy, agenda, service, .. } = self;
        let slot = &mut slots[id.0 as usize];
        if let Some(details) = slot.details.take() {
            policy.introduce(slot, &details);
        }
        let arrived = match refusal {
            None => policy.walk(at, slot, 0, agenda, service),
            Some(refusal) => policy.refuse(at, slot, refusal, agenda, service),
        };
        let verdict = match arrived {
            Arrived::Admitted(verdict)
            | Arrived::Done { verdict, .. }
            | Arrived::Scripted { verdict, .. } => Some(verdict),
            Arrived::Open => None,
        };
        let accepted = verdict == Some(ServerDecision::Accepted);
        if accepted && matches!(step, Step::Write { .. }) {
            self.version += 1;
        }
        // An accepted request that takes no time is in service only at this instant. `passing` adds it to the numbers of busy slots and of
        // requests in service, so that the recorded maximums of these numbers include it.
        let takes_no_time = matches!(arrived, Arrived::Done { .. } | Arrived::Scripted { .. });
        let passing = u32::from(takes_no_time && accepted);
        let (busy, in_service) = (self.policy.busy(), self.policy.in_service());
        self.ledger.on_admission(of, step, verdict, (busy + passing, in_service + passing));
        if let (None, Some(verdict)) = (refusal, verdict) {
            self.count_policies(id, verdict);
        }
        if refusal == Some(ServerDecision::Rejected) && verdict == refusal && step != Step::Read {
            self.ledger.note(of, |account| account.forced += 1);
        }
        match arrived {
            Arrived::Admitted(_) => None,
            Arrived::Done { verdict, advice } => {
                let released = Released { advice, ..Released::at_once(id, verdict, busy + passing) };
                self.answer(at, &released)
            }
            Arrived::Scripted { verdict, reply } => {
                let released = Released::at_once(id, verdict, busy + passing);
                self.answer(at, &Released { reply: Some(reply), ..released })
            }
            Arrived::Open => {
                self.slots[id.0 as usize].is_open = true;
                None
            }
        }
    }

    /// Ends a request that does not reach the policies, because of an outage or a fault.
    #[cold]
    fn turn_away(&mut self, at: Instant, id: RequestId, verdict: ServerDecision) -> Option<RequestId> {
        let slot = &self.slots[id.0 as usize];
        let (busy, in_service) = (self.policy.busy(), self.policy.in_service());
        self.ledger.on_admission(self.of(slot), slot.request.step, Some(verdict), (busy, in_service));
        self.answer(at, &Released::at_once(id, verdict, busy))
    }

    #[inline]
    pub(super) fn count_policies(&mut self, id: RequestId, verdict: ServerDecision) {
        if self.ledger.policies.are_counted() {
            self.count_stack(id, verdict);
        }
    }

    #[inline(never)]
    fn count_stack(&mut self, id: RequestId, verdict: ServerDecision) {
        let slot = &self.slots[id.0 as usize];
        self.ledger.on_stack(self.of(slot), self.policy.fate(slot, verdict));
    }

    /// Counts the decision on a request, if the request was still undecided at admission. If the request is a conditional write, the write
    /// takes effect now.
    pub(super) fn decide(&mut self, released: &mut Released) {
        let slot = &self.slots[released.id.0 as usize];
        let (of, request) = (self.of(slot), slot.request);
        if let (Step::Write { if_match }, ServerDecision::Accepted) = (request.step, released.verdict) {
            if if_match == self.version {
                self.version += 1;
            } else {
                released.verdict = ServerDecision::Conflict;
            }
        }
        self.ledger.on_verdict(of, request.step, released.verdict);
        if let Of::ThisEpoch(_) = of {
            let crashes = self.policy.take_crashes();
            if crashes > 0 {
                // The crashes count for the run whose request was the first to observe them.
                self.ledger.note(of, |account| account.counts.crashes += crashes);
            }
        }
    }

    /// Completes the optional parts of an answer.
    fn add_extras(&mut self, index: usize, fault: Option<Fault>, verdict: ServerDecision) {
        let slot = &mut self.slots[index];
        let has_custom_responses =
            verdict == ServerDecision::Failed || matches!(fault, Some(Fault::Status(_)));
        let has_facts = self.has_facts && !has_custom_responses;
        if has_facts {
            self.policy.tell(slot);
            let Request { seed, op, attempt, .. } = slot.request;
            let facts = slot.facts();
            (facts.seed, facts.op, facts.attempt) = (seed, op, attempt);
        }
        let extras = slot.answer.extras.get_or_insert_default();
        if !has_facts {
            extras.facts = None;
        }
        extras.fault = match fault {
            Some(Fault::SlowHeaders(_)) => None,
            Some(Fault::Hang) => Some(Fault::Close),
            fault => fault,
        };
        if !has_facts && extras.fault.is_none() {
            slot.answer.extras = None;
        }
    }

    /// Applies the faults to an answer, counts them, and completes the optional parts of the answer. Returns the delay that faults cause,
    /// and whether one of them spoils the answer. If a script and the configured faults both affect the answer, the fault of the script
    /// applies, after the delay of the other.
    #[inline(never)]
    fn strike(&mut self, index: usize, of: Of, released: &Released) -> (Duration, bool) {
        let scripted = released.reply.and_then(|id| self.config.policy.script()?.reply(id)?.fault());
        let drawn = self.config.fault.of_answer(&self.slots[index].request, released.verdict);
        let mut later = Duration::ZERO;
        let (mut spoils, mut slows) = (false, false);
        for fault in scripted.into_iter().chain(drawn) {
            later += fault.answer_delay();
            spoils |= !fault.is_slow();
            slows |= fault.is_slow();
        }
        if spoils || slows {
            self.ledger.note(of, |account| {
                account.spoiled += u64::from(spoils && released.verdict == ServerDecision::Accepted);
                account.slowed += u64::from(slows);
            });
        }
        let fault = scripted.or(drawn);
        self.add_extras(index, fault, released.verdict);
        (later, fault.is_some_and(|fault| !fault.is_slow()))
    }

    /// Ends a request and sends its answer. Returns the request if its answer reaches the client without delay.
    #[inline]
    pub(super) fn answer(&mut self, at: Instant, released: &Released) -> Option<RequestId> {
        let index = released.id.0 as usize;
        let of = self.of(&self.slots[index]);
        let (later, is_spoiled) = if self.is_plain && released.reply.is_none() {
            self.slots[index].answer.extras = None;
            (Duration::ZERO, false)
        } else {
            self.strike(index, of, released)
        };
        if released.verdict == ServerDecision::Accepted && !is_spoiled {
            self.ledger.note(of, |account| account.served += released.held);
        } else {
            self.ledger.note(of, |account| account.wasted += released.held);
        }
        let advice = match released.verdict {
            // A scripted reply contains its own retry advice.
            ServerDecision::Rejected | ServerDecision::Conflict if released.reply.is_none() => {
                released.advice.or(self.config.retry_after)
            }
            _ => None,
        };
        let cap = self.policy.capacity(at, &self.service);
        let slot = &mut self.slots[index];
        slot.end(Place::Going);
        let answer = &mut slot.answer;
        (answer.verdict, answer.advice, answer.at) = (released.verdict, advice, at);
        (answer.busy, answer.cap, answer.version) = (released.busy, cap, self.version);
        answer.reply = released.reply;
        if slot.request.is_lost(NetworkLeg::ToClient, self.config.loss) {
            self.ledger.note(of, |account| account.lost_answers += 1);
            return None;
        }
        let delay = slot.request.return_delay(&self.config.return_delay) + later;
        // Fast path: without advice, no early retries are tracked.
        if let (Some(early), Some(client)) = (&mut self.early_retries, slot.client) {
            early.on_answer(client, answer, &self.config, at + delay);
        }
        if delay.is_zero() {
            slot.place = Place::Gone;
            return Some(released.id);
        }
        slot.event = self.agenda.push(Lane::Going, at + delay, released.id);
        None
    }
}
