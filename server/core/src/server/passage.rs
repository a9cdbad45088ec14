//! Path of a request through the server: arrival, admission, the decision if it is made later than admission, and the answer.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::Instant;

use super::Held;
use crate::ledger::Of;
use crate::policies::{Arrived, Released};
use crate::request::{NetworkLeg, store};
use crate::{Answer, Extras, Fault, Request, RequestFields, RequestId, Server, ServerDecision, Step};

impl Server {
    pub(super) fn meet(
        &mut self,
        now: Instant,
        request: Request,
        least: u32,
        details: Option<Arc<RequestFields>>,
    ) {
        self.on_arrival(now, &request);
        self.follow_schedule(now);
        if least > 0 && self.free(now) < u64::from(least) {
            return self.defer(now, request.id);
        }
        // `keep_details` is also called for a request without details. It then removes the details of an earlier request with the same id,
        // which may still be stored if the network lost that request.
        if details.is_some() || !self.details.is_empty() {
            self.keep_details(request.id, details);
        }
        self.arrive(now, request);
    }

    #[inline(never)]
    fn keep_details(&mut self, id: RequestId, details: Option<Arc<RequestFields>>) {
        store(&mut self.details, id.0 as usize, details);
    }

    #[inline]
    pub(super) fn forget_details(&mut self, id: RequestId) -> Option<Arc<RequestFields>> {
        self.details.get_mut(id.0 as usize)?.take()
    }

    #[inline]
    fn arrive(&mut self, now: Instant, request: Request) {
        let held = Held { request, epoch: self.epoch, message: self.messages, is_open: false };
        self.messages += 1;
        store(&mut self.requests, request.id.0 as usize, Some(held));
        if request.is_lost(NetworkLeg::ToServer, self.config.loss) {
            return self.ledger.note(self.of(&held), |account| account.lost_requests += 1);
        }
        if self.early_retries.is_some() {
            self.check_earliness(now, &held);
        }
        let delay = request.network_delay(&self.config.network_delay);
        if delay.is_zero() {
            let answer = self.admit(now, request.id);
            self.answers.extend(answer);
        } else {
            self.coming.push(now + delay, held.message, request.id);
        }
    }

    #[inline(never)]
    fn check_earliness(&mut self, now: Instant, held: &Held) {
        let id = held.request.id;
        let details = self.details.get(id.0 as usize).and_then(Option::as_deref);
        let early = self.early_retries.as_mut();
        let is_early = early.is_some_and(|early| early.on_arrival(now, id, details));
        // Only a retry can be too early. If the request belongs to a run, its attempt number shows whether it is a retry. The attempt
        // number of any other request is unknown, so such a request is treated as a retry.
        let is_retry = held.request.run.is_none() || held.request.attempt > 1;
        if is_early && is_retry {
            self.ledger.note(self.of(held), |account| account.early += 1);
        }
    }

    /// Answers a request at once, because less capacity is free than the request needs to start. Apart from the answer, the server's state
    /// does not change.
    fn defer(&mut self, now: Instant, id: RequestId) {
        self.answers.push_back(Answer {
            id,
            verdict: ServerDecision::Deferred,
            advice: None,
            at: now,
            busy: self.busy(),
            cap: self.capacity(now),
            version: self.version,
            reply: None,
            extras: None,
        });
    }

    /// Processes a request that reaches admission. Returns its answer if the answer is due at once.
    #[inline]
    pub(super) fn admit(&mut self, at: Instant, id: RequestId) -> Option<Answer> {
        let details = self.forget_details(id);
        let held = self.requests[id.0 as usize].as_ref()?;
        let Request { step, attempt, .. } = held.request;
        let of = self.of(held);
        if self.is_down(at) {
            if step != Step::Read {
                self.ledger.note(of, |account| account.outages += 1);
            }
            return self.turn_away(at, id, ServerDecision::Rejected);
        }
        if !self.is_plain && self.config.fault.strike_before(&held.request) {
            return self.turn_away(at, id, ServerDecision::Failed);
        }
        let refusal = match step {
            _ if attempt <= self.config.reject_first => Some(ServerDecision::Rejected),
            Step::Write { if_match } if if_match != self.version => Some(ServerDecision::Conflict),
            _ => None,
        };
        if let Some(details) = details {
            self.policy.introduce(id, &details);
        }
        let arrived = match refusal {
            None => self.policy.arrive(at, &held.request, &self.service),
            Some(refusal) => self.policy.refuse(at, &held.request, refusal, &self.service),
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
                if let Some(held) = &mut self.requests[id.0 as usize] {
                    held.is_open = true;
                }
                None
            }
        }
    }

    /// Ends a request that does not reach the policies, because of an outage or a fault.
    #[cold]
    fn turn_away(&mut self, at: Instant, id: RequestId, verdict: ServerDecision) -> Option<Answer> {
        let held = self.requests[id.0 as usize].as_ref()?;
        let (busy, in_service) = (self.policy.busy(), self.policy.in_service());
        self.ledger.on_admission(self.of(held), held.request.step, Some(verdict), (busy, in_service));
        self.policy.forget(id);
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
        if let Some(held) = &self.requests[id.0 as usize]
            && let Some(fate) = self.policy.fate(id, verdict)
        {
            self.ledger.on_stack(self.of(held), fate);
        }
    }

    pub(super) fn is_open(&self, id: RequestId) -> bool {
        self.requests[id.0 as usize].as_ref().is_some_and(|held| held.is_open)
    }

    /// Counts the decision on a request, if the request was still undecided at admission. If the request is a conditional write, the write
    /// takes effect now.
    pub(super) fn decide(&mut self, released: &mut Released) {
        let Some(held) = self.requests[released.id.0 as usize] else { return };
        let request = held.request;
        if let (Step::Write { if_match }, ServerDecision::Accepted) = (request.step, released.verdict) {
            if if_match == self.version {
                self.version += 1;
            } else {
                released.verdict = ServerDecision::Conflict;
            }
        }
        let of = self.of(&held);
        self.ledger.on_verdict(of, request.step, released.verdict);
        if let Of::ThisEpoch(_) = of {
            let crashes = self.policy.take_crashes();
            if crashes > 0 {
                // The crashes count for the run whose request was the first to observe them.
                self.ledger.note(of, |account| account.counts.crashes += crashes);
            }
        }
    }

    fn extras(
        &mut self,
        request: &Request,
        fault: Option<Fault>,
        verdict: ServerDecision,
    ) -> Option<Box<Extras>> {
        let mut extras = self.spare.take().unwrap_or_default();
        if self.has_facts {
            let facts = extras.facts.get_or_insert_default();
            (facts.seed, facts.op, facts.attempt) = (request.seed, request.op, request.attempt);
            self.policy.tell(request.id, facts);
        }
        let has_custom_responses =
            verdict == ServerDecision::Failed || matches!(fault, Some(Fault::Status(_)));
        if has_custom_responses || !self.has_facts {
            extras.facts = None;
        }
        extras.fault = match fault {
            Some(Fault::SlowHeaders(_)) => None,
            Some(Fault::Hang) => Some(Fault::Close),
            fault => fault,
        };
        (extras.facts.is_some() || extras.fault.is_some()).then_some(extras)
    }

    /// Returns the fault that applies to an answer, and the delay that faults cause. Counts the faults. If a script and the configured
    /// faults both affect the answer, the fault of the script applies, after the delay of the other.
    fn strike(&mut self, request: &Request, of: Of, released: &Released) -> (Option<Fault>, Duration) {
        let scripted = released.reply.and_then(|id| self.config.policy.script()?.reply(id)?.fault());
        let drawn = self.config.fault.of_answer(request, released.verdict);
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
        (scripted.or(drawn), later)
    }

    /// Ends a request and sends its answer. Returns the answer if it reaches the client without delay.
    #[inline]
    pub(super) fn answer(&mut self, at: Instant, released: &Released) -> Option<Answer> {
        let index = released.id.0 as usize;
        let held = self.requests[index].as_ref()?;
        let request = held.request;
        let of = self.of(held);
        let (fault, later) = if self.config.fault.is_empty() && released.reply.is_none() {
            (None, Duration::ZERO)
        } else {
            self.strike(&request, of, released)
        };
        match released.verdict {
            ServerDecision::Accepted if fault.is_none_or(Fault::is_slow) => {
                self.ledger.note(of, |account| account.served += released.held);
            }
            _ => self.ledger.note(of, |account| account.wasted += released.held),
        }
        if request.is_lost(NetworkLeg::ToClient, self.config.loss) {
            self.ledger.note(of, |account| account.lost_answers += 1);
            return None;
        }
        let advice = match released.verdict {
            // A scripted reply contains its own retry advice.
            ServerDecision::Rejected | ServerDecision::Conflict if released.reply.is_none() => {
                released.advice.or(self.config.retry_after)
            }
            _ => None,
        };
        let extras = if self.is_plain && fault.is_none() {
            None
        } else {
            self.extras(&request, fault, released.verdict)
        };
        let (cap, version) = (self.policy.capacity(at, &self.service), self.version);
        // The answer is built directly at its destination and not copied there. A copy right after the parts were written would stall the
        // processor until all parts are in memory.
        let answer = |extras| Answer {
            id: released.id,
            verdict: released.verdict,
            advice,
            at,
            busy: released.busy,
            cap,
            version,
            reply: released.reply,
            extras,
        };
        let delay = request.return_delay(&self.config.return_delay) + later;
        let extras = match &mut self.early_retries {
            // Fast path: no answer advises a wait, so no early retries are tracked.
            None => extras,
            Some(early) => {
                let answer = answer(extras);
                early.on_answer(&answer, &self.config, at + delay);
                answer.extras
            }
        };
        if delay.is_zero() {
            self.requests[index] = None;
            Some(answer(extras))
        } else {
            let message = self.messages;
            self.messages += 1;
            if let Some(held) = &mut self.requests[index] {
                held.message = message;
            }
            self.going.push(at + delay, message, answer(extras));
            None
        }
    }
}
