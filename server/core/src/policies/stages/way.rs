//! Path of a request through the stages of the policy stack. At each stage, the request passes, waits or is rejected. After the last stage
//! it is served, and finally it ends.

use std::time::Duration;

use vocabulary::Instant;

use super::passing::{Passing, Rejection};
use crate::policies::common::{Charged, Later, Own};
use crate::policies::{Arrived, Charge, Common, Decision, Released, Stage, StageRequest, Stages, nanos};
use crate::request::store;
use crate::{RequestId, ServerDecision, ServiceModel};

impl Stages {
    #[inline]
    pub(super) fn walk(
        &mut self,
        at: Instant,
        id: RequestId,
        from: usize,
        service: &ServiceModel,
    ) -> Arrived {
        for index in from..self.gates.len() {
            let (stage, slot) = self.stage_and_slot(index, id);
            let Some(asked) = slot.asked(index, stage) else { return Arrived::Open };
            match stage.gate.ask(at, &asked, service) {
                Decision::Pass => self.pass(at, id, index, false),
                Decision::PassAfter(wait) => {
                    self.pass(at, id, index, false);
                    let entry = (at + wait, self.waited);
                    self.waited += 1;
                    self.waits.insert(entry, id);
                    self.slot(id).wait = Some(entry);
                    return Arrived::Open;
                }
                Decision::Queue => {
                    slot.queued = Some(index);
                    return Arrived::Open;
                }
                Decision::Reject(wait) => {
                    self.reject(at, id, index, wait, service);
                    return self.turn_away(at, id, ServerDecision::Rejected, service);
                }
            }
        }
        self.serve(at, id, service)
    }

    /// Processes the arrival of a request that had to wait first. If the request ended without taking time, its release is queued and is due
    /// at `at`.
    pub(super) fn tell_late(&mut self, at: Instant, id: RequestId, arrived: Arrived) {
        let (verdict, advice, reply) = match arrived {
            // The request does not end here. Its end is a separate event at a later time.
            Arrived::Open | Arrived::Admitted(_) => return,
            Arrived::Done { verdict, advice } => (verdict, advice, None),
            Arrived::Scripted { verdict, reply } => (verdict, None, Some(reply)),
        };
        let busy = self.busy() + u32::from(verdict == ServerDecision::Accepted);
        self.ready.push_back((at, Released { advice, reply, ..Released::at_once(id, verdict, busy) }));
    }

    /// Records that a request passed a stage. Also charges the request, unless the stage charges requests only with their responses.
    /// `is_charged` is true if the request waited in the stage's queue, because the queue has then already charged it.
    #[inline]
    pub(super) fn pass(&mut self, at: Instant, id: RequestId, index: usize, is_charged: bool) {
        let (stage, slot) = self.stage_and_slot(index, id);
        let Some(asked) = slot.asked(index, stage) else { return };
        let taken = Charge { at, cost: asked.cost };
        let charges_now = stage.common.charged == Charged::Arrival;
        if charges_now && !is_charged {
            stage.gate.charge(at, &asked);
        }
        if (charges_now || is_charged) && !stage.holds_slots {
            store(&mut slot.taken, index, Some(taken));
        }
        slot.queued = None;
        slot.passed = index + 1;
    }

    #[inline]
    pub(super) fn reject(
        &mut self,
        at: Instant,
        id: RequestId,
        index: usize,
        wait: Option<Duration>,
        service: &ServiceModel,
    ) {
        let up_to = &self.gates[..=index];
        let occupies = service.rejects_occupy && up_to.iter().any(|stage| stage.holds_slots);
        let (stage, slot) = self.stage_and_slot(index, id);
        let Some(asked) = slot.asked(index, stage) else { return };
        let counts_own = !stage.holds_slots && stage.common.own == Own::Yes;
        // A rejected request may occupy a place like a served request, even if more places than the cap are then busy. The server in the
        // article of seed 000 (see the source of `concurrency-cap`) behaves in this way.
        if (stage.holds_slots && occupies) || counts_own {
            stage.gate.charge(at, &asked);
        }
        // A rejected request that was charged has to wait longer, so the stage computes the wait again.
        let wait = match counts_own.then(|| stage.gate.ask(at, &asked, service)) {
            Some(Decision::Reject(wait)) => wait,
            _ => wait,
        };
        let wait = if index == 0 { wait } else { self.undo(at, id, index, wait) };
        let slot = self.slot(id);
        slot.queued = None;
        slot.rejection = Some(Rejection { stage: index, free_at: wait.map(|wait| at + wait), occupies });
        if !occupies {
            self.free_slots(at, id, service);
        }
    }

    /// Rolls back the first `passed` stages, last one first, after a later stage or the server rejected the request. Refunds the stages'
    /// charges where their parameters say so, and lets each stage raise `wait`. Returns the wait to advertise.
    fn undo(
        &mut self,
        at: Instant,
        id: RequestId,
        passed: usize,
        mut wait: Option<Duration>,
    ) -> Option<Duration> {
        for index in (0..passed).rev() {
            let (stage, slot) = self.stage_and_slot(index, id);
            let Some(asked) = slot.asked(index, stage) else { return wait };
            wait = stage.gate.on_later_rejection(at, &asked, wait);
            if stage.common.later == Later::Back
                && let Some(taken) = slot.taken(index)
            {
                stage.gate.refund(at, &asked, taken);
                slot.taken[index] = None;
            }
        }
        wait
    }

    /// Stores the status of each stage's limit, for a request that has just been admitted or rejected. Some stages charge a request only
    /// when its response is sent. This charge is already subtracted from the stored status. The reason is that Kong's handler subtracts the
    /// request from the remaining amount before it writes the headers.
    fn look(&mut self, at: Instant, id: RequestId, service: &ServiceModel) {
        self.slot(id).decided_at = at;
        for index in 0..self.gates.len() {
            let (stage, slot) = self.stage_and_slot(index, id);
            let Some(asked) = slot.asked(index, stage) else { return };
            let (key, cost) = (asked.key, asked.cost);
            let mut limit_status = stage.gate.limit_status(at, key, service);
            if let Some(limit_status) = &mut limit_status
                && slot.is_charged_with_answer(index, stage)
            {
                limit_status.remaining = limit_status.remaining.saturating_sub(cost.into());
            }
            slot.limit_statuses.push(limit_status);
        }
    }

    /// Starts the time that the rejection of a request takes. `verdict` is the reason for the rejection. The time is the same for every
    /// reason.
    #[inline]
    pub(super) fn turn_away(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: ServerDecision,
        service: &ServiceModel,
    ) -> Arrived {
        let slot = self.slot(id);
        let (Some(request), Some(rejection)) = (&slot.request, slot.rejection) else { return Arrived::Open };
        let takes = service.reject_time(request);
        if self.advertises_limits {
            self.look(at, id, service);
        }
        let arrived = self.holding.take(at, id, verdict, rejection.occupies, takes);
        match arrived {
            Arrived::Done { verdict, .. } => {
                let advice = rejection.free_at.map(|free_at| free_at.since(at));
                self.finish(at, id, Some(verdict), service);
                Arrived::Done { verdict, advice }
            }
            other => other,
        }
    }

    #[inline]
    fn serve(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Arrived {
        if self.advertises_limits {
            self.look(at, id, service);
        }
        let Some(request) = &self.passing[id.0 as usize].request else { return Arrived::Open };
        let arrived = if let Some(server) = &mut self.server {
            server.arrive(at, request, service)
        } else {
            let in_service = self.holding.in_service;
            let takes = self.gates.iter().fold(service.service_time(request), |takes, stage| {
                stretched(takes, stage.gate.stretch(in_service))
            });
            self.holding.take(at, id, ServerDecision::Accepted, true, takes)
        };
        match arrived {
            Arrived::Admitted(verdict) if verdict != ServerDecision::Accepted => {
                let (stage, occupies) = (self.gates.len(), service.rejects_occupy);
                let free_at = self.undo(at, id, stage, None).map(|wait| at + wait);
                self.slot(id).rejection = Some(Rejection { stage, free_at, occupies });
                if !occupies {
                    self.free_slots(at, id, service);
                }
            }
            Arrived::Done { verdict, advice } => {
                let advice = self.end_of_service(at, id, verdict, advice, service);
                return Arrived::Done { verdict, advice };
            }
            Arrived::Scripted { verdict, .. } => {
                self.end_of_service(at, id, verdict, None, service);
            }
            Arrived::Open | Arrived::Admitted(_) => {}
        }
        arrived
    }

    #[inline]
    fn end_of_service(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: ServerDecision,
        advice: Option<Duration>,
        service: &ServiceModel,
    ) -> Option<Duration> {
        let advice = match verdict {
            ServerDecision::Accepted => advice,
            _ => self.undo(at, id, self.gates.len(), advice),
        };
        self.finish(at, id, Some(verdict), service);
        advice
    }

    /// Ends a request whose service time or reject time has elapsed. Returns the wait to advise to the client.
    #[inline]
    pub(super) fn over(
        &mut self,
        at: Instant,
        released: &Released,
        service: &ServiceModel,
    ) -> Option<Duration> {
        let (id, verdict) = (released.id, released.verdict);
        let Some(rejection) = self.slot(id).rejection else {
            return self.end_of_service(at, id, verdict, released.advice, service);
        };
        self.finish(at, id, Some(verdict), service);
        rejection.free_at.map(|free_at| free_at.since(at)).or(released.advice)
    }

    /// Ends a request. Makes the charges that are due with the response, adjusts all other charges to the actual cost, and frees the
    /// request's places. If the request was cancelled (no verdict), its charges stay as they are. Stages with the parameters
    /// `charged=answer` and `later=keep` also charge a request that passed them but was then rejected.
    #[inline]
    pub(super) fn finish(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: Option<ServerDecision>,
        service: &ServiceModel,
    ) {
        if self.settles {
            self.settle(at, id, verdict);
        }
        self.free_slots(at, id, service);
        self.slot(id).end();
    }

    #[inline(never)]
    fn settle(&mut self, at: Instant, id: RequestId, verdict: Option<ServerDecision>) {
        let has_passed = self.slot(id).rejection.map_or(self.gates.len(), |rejection| rejection.stage);
        for index in 0..has_passed {
            let (stage, slot) = self.stage_and_slot(index, id);
            if !stage.settles {
                continue;
            }
            let Some(asked) = slot.asked(index, stage) else { return };
            let Common { charged, later, .. } = stage.common;
            match verdict {
                Some(ServerDecision::Accepted) => settle(at, index, stage, slot),
                Some(_) if (charged, later) == (Charged::Answer, Later::Keep) => {
                    stage.gate.charge(at, &asked);
                }
                _ => {}
            }
        }
    }

    #[inline]
    fn free_slots(&mut self, at: Instant, id: RequestId, service: &ServiceModel) {
        let Self { gates, passing, .. } = self;
        let slot = &mut passing[id.0 as usize];
        let own = slot.rejection.filter(|rejection| rejection.occupies).map(|rejection| rejection.stage);
        let passed = std::mem::take(&mut slot.passed);
        for (index, stage) in gates.iter_mut().enumerate() {
            if stage.holds_slots && (index < passed || own == Some(index)) {
                let Some(asked) = slot.asked(index, stage) else { return };
                stage.gate.ended(at, &asked, service);
            }
        }
    }

    #[inline]
    fn slot(&mut self, id: RequestId) -> &mut Passing {
        &mut self.passing[id.0 as usize]
    }

    #[inline]
    fn stage_and_slot(&mut self, index: usize, id: RequestId) -> (&mut Stage, &mut Passing) {
        (&mut self.gates[index], &mut self.passing[id.0 as usize])
    }
}

fn settle(at: Instant, index: usize, stage: &mut Stage, slot: &Passing) {
    let Some(asked) = slot.asked(index, stage) else { return };
    let used = slot.used(index, stage).unwrap_or(asked.cost);
    match slot.taken(index) {
        None => stage.gate.charge(at, &StageRequest { cost: used, ..asked }),
        Some(taken) if used < taken.cost => {
            stage.gate.refund(at, &asked, Charge { cost: taken.cost - used, ..taken });
        }
        Some(taken) if used > taken.cost => {
            stage.gate.charge(at, &StageRequest { cost: used - taken.cost, ..asked });
        }
        Some(_) => {}
    }
}

fn stretched(time: Duration, thousandths: u64) -> Duration {
    if thousandths == 1000 {
        return time;
    }
    nanos(time.as_nanos().saturating_mul(u128::from(thousandths)) / 1000)
}
