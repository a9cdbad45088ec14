//! Path of a request through the stages of the policy stack. At each stage, the request passes, waits or is rejected. After the last stage
//! it is served, and finally it ends.

use std::time::Duration;

use vocabulary::Instant;

use crate::agenda::Agenda;
use crate::policies::common::{Charged, Later, Own};
use crate::policies::{Arrived, Charge, Common, Decision, Released, Stage, StageRequest, Stages, nanos};
use crate::request::store;
use crate::slot::{Place, Rejection, Slot};
use crate::{ServerDecision, ServiceModel};

impl Stages {
    /// Lets a request pass the stages from `from` on. A request that arrives passes all of them.
    #[inline]
    pub(crate) fn walk(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        from: usize,
        agenda: &mut Agenda,
        service: &ServiceModel,
    ) -> Arrived {
        for index in from..self.gates.len() {
            let stage = &mut self.gates[index];
            let asked = slot.asked(index, stage);
            if stage.common.exempts(asked.key) {
                slot.passed = index + 1;
                continue;
            }
            match stage.gate.ask(at, &asked, service) {
                Decision::Pass => self.pass(at, slot, index, false),
                Decision::PassAfter(wait) => {
                    self.pass(at, slot, index, false);
                    let entry = (at + wait, self.waited);
                    self.waited += 1;
                    self.waits.insert(entry, slot.request.id);
                    (slot.place, slot.wait) = (Place::Waiting, entry);
                    return Arrived::Open;
                }
                Decision::Queue => {
                    slot.place = Place::Queued;
                    return Arrived::Open;
                }
                Decision::Reject(wait) => {
                    self.reject(at, slot, index, wait, service);
                    return self.turn_away(at, slot, ServerDecision::Rejected, agenda, service);
                }
            }
        }
        self.serve(at, slot, agenda, service)
    }

    /// Records that a request passed a stage. Also charges the request, unless the stage charges requests only with their responses.
    /// `is_charged` is true if the request waited in the stage's queue, because the queue has then already charged it.
    #[inline]
    pub(super) fn pass(&mut self, at: Instant, slot: &mut Slot, index: usize, is_charged: bool) {
        let stage = &mut self.gates[index];
        let asked = slot.asked(index, stage);
        let taken = Charge { at, cost: asked.cost };
        let charges_now = stage.common.charged == Charged::Arrival;
        if charges_now && !is_charged {
            stage.gate.charge(at, &asked);
        }
        if (charges_now || is_charged) && !stage.holds_slots {
            store(&mut slot.taken, index, Some(taken));
        }
        slot.passed = index + 1;
    }

    #[inline]
    pub(super) fn reject(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        index: usize,
        wait: Option<Duration>,
        service: &ServiceModel,
    ) {
        let up_to = &self.gates[..=index];
        let occupies = service.rejects_occupy && up_to.iter().any(|stage| stage.holds_slots);
        let stage = &mut self.gates[index];
        let asked = slot.asked(index, stage);
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
        let wait = if index == 0 { wait } else { self.undo(at, slot, index, wait) };
        let free_at = wait.map(|wait| at + wait);
        slot.rejection = Some(Rejection { stage: Some(index), free_at, occupies });
        if !occupies {
            self.free_slots(at, slot, service);
        }
    }

    /// Rolls back the first `passed` stages, last one first, after a later stage or the server rejected the request. Refunds the stages'
    /// charges where their parameters say so, and lets each stage raise `wait`. Returns the wait to advertise.
    fn undo(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        passed: usize,
        mut wait: Option<Duration>,
    ) -> Option<Duration> {
        for (index, stage) in self.gates[..passed].iter_mut().enumerate().rev() {
            let asked = slot.asked(index, stage);
            if stage.common.exempts(asked.key) {
                continue;
            }
            wait = stage.gate.on_later_rejection(at, &asked, wait);
            if stage.common.later == Later::Back
                && let Some(taken) = slot.taken.get_mut(index).and_then(Option::take)
            {
                stage.gate.refund(at, &slot.asked(index, stage), taken);
            }
        }
        wait
    }

    /// Stores the status of each stage's limit, for a request that has just been admitted or rejected. Some stages charge a request only
    /// when its response is sent. This charge is already subtracted from the stored status. The reason is that Kong's handler subtracts the
    /// request from the remaining amount before it writes the headers.
    fn look(&mut self, at: Instant, slot: &mut Slot, service: &ServiceModel) {
        slot.facts().decided_at = at;
        for (index, stage) in self.gates.iter_mut().enumerate() {
            let StageRequest { key, cost, .. } = slot.asked(index, stage);
            let mut limit_status = stage.limit_status(at, key, service);
            if let Some(limit_status) = &mut limit_status
                && is_charged_with_answer(index, stage, slot)
            {
                limit_status.remaining = limit_status.remaining.saturating_sub(cost.into());
            }
            slot.facts().limit_statuses.push(limit_status);
        }
    }

    /// Starts the time that the rejection of a request takes. `verdict` is the reason for the rejection. The time is the same for every
    /// reason.
    #[inline]
    pub(super) fn turn_away(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        verdict: ServerDecision,
        agenda: &mut Agenda,
        service: &ServiceModel,
    ) -> Arrived {
        let Some(rejection) = slot.rejection else { return Arrived::Open };
        let takes = service.reject_time(&slot.request);
        if self.advertises_limits {
            self.look(at, slot, service);
        }
        match self.hold(at, slot, verdict, rejection.occupies, takes, agenda) {
            Arrived::Done { verdict, .. } => {
                let advice = rejection.free_at.map(|free_at| free_at.since(at));
                self.finish(at, slot, Some(verdict), service);
                Arrived::Done { verdict, advice }
            }
            other => other,
        }
    }

    #[inline]
    fn serve(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        agenda: &mut Agenda,
        service: &ServiceModel,
    ) -> Arrived {
        if self.advertises_limits {
            self.look(at, slot, service);
        }
        let arrived = if let Some(server) = &mut self.server {
            slot.place = Place::Served;
            server.arrive(at, &slot.request, service)
        } else {
            let in_service = self.in_service;
            let takes = self.gates.iter().fold(service.service_time(&slot.request), |takes, stage| {
                stretched(takes, stage.gate.stretch(in_service))
            });
            self.hold(at, slot, ServerDecision::Accepted, true, takes, agenda)
        };
        match arrived {
            Arrived::Admitted(verdict) if verdict != ServerDecision::Accepted => {
                let (stage, occupies) = (self.gates.len(), service.rejects_occupy);
                let free_at = self.undo(at, slot, stage, None).map(|wait| at + wait);
                slot.rejection = Some(Rejection { stage: Some(stage), free_at, occupies });
                if !occupies {
                    self.free_slots(at, slot, service);
                }
            }
            Arrived::Done { verdict, advice } => {
                let advice = self.end_of_service(at, slot, verdict, advice, service);
                return Arrived::Done { verdict, advice };
            }
            Arrived::Scripted { verdict, .. } => {
                self.end_of_service(at, slot, verdict, None, service);
            }
            Arrived::Open | Arrived::Admitted(_) => {}
        }
        arrived
    }

    #[inline]
    fn end_of_service(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        verdict: ServerDecision,
        advice: Option<Duration>,
        service: &ServiceModel,
    ) -> Option<Duration> {
        let advice = match verdict {
            ServerDecision::Accepted => advice,
            _ => self.undo(at, slot, self.gates.len(), advice),
        };
        self.finish(at, slot, Some(verdict), service);
        advice
    }

    /// Ends a request whose service time or reject time has elapsed. Returns the wait to advise to the client.
    #[inline]
    pub(super) fn over(
        &mut self,
        at: Instant,
        released: &Released,
        slot: &mut Slot,
        service: &ServiceModel,
    ) -> Option<Duration> {
        let Some(rejection) = slot.rejection else {
            return self.end_of_service(at, slot, released.verdict, released.advice, service);
        };
        self.finish(at, slot, Some(released.verdict), service);
        rejection.free_at.map(|free_at| free_at.since(at)).or(released.advice)
    }

    /// Ends a request. Makes the charges that are due with the response, adjusts all other charges to the actual cost, and frees the
    /// request's places. If the request was cancelled (no verdict), its charges stay as they are. Stages with the parameters
    /// `charged=answer` and `later=keep` also charge a request that passed them but was then rejected.
    #[inline]
    pub(super) fn finish(
        &mut self,
        at: Instant,
        slot: &mut Slot,
        verdict: Option<ServerDecision>,
        service: &ServiceModel,
    ) {
        if self.settles {
            self.settle(at, slot, verdict);
        }
        self.free_slots(at, slot, service);
    }

    #[inline(never)]
    fn settle(&mut self, at: Instant, slot: &mut Slot, verdict: Option<ServerDecision>) {
        let all = self.gates.len();
        let has_passed = slot.rejection.map_or(all, |rejection| rejection.stage.unwrap_or_default());
        for (index, stage) in self.gates.iter_mut().enumerate().take(has_passed) {
            if !stage.settles || stage.common.exempts(slot.asked(index, stage).key) {
                continue;
            }
            let Common { charged, later, .. } = stage.common;
            match verdict {
                Some(ServerDecision::Accepted) => settle(at, index, stage, slot),
                Some(_) if (charged, later) == (Charged::Answer, Later::Keep) => {
                    stage.gate.charge(at, &slot.asked(index, stage));
                }
                _ => {}
            }
        }
    }

    #[inline]
    fn free_slots(&mut self, at: Instant, slot: &mut Slot, service: &ServiceModel) {
        let own = slot.rejection.filter(|rejection| rejection.occupies).and_then(|rejection| rejection.stage);
        let passed = std::mem::take(&mut slot.passed);
        for (index, stage) in self.gates.iter_mut().enumerate() {
            if stage.holds_slots && (index < passed || own == Some(index)) {
                stage.gate.ended(at, &slot.asked(index, stage), service);
            }
        }
    }
}

fn is_charged_with_answer(index: usize, stage: &Stage, slot: &Slot) -> bool {
    let Common { charged, later, .. } = stage.common;
    let has_passed = match slot.rejection {
        None => true,
        Some(rejection) => rejection.stage.is_some_and(|by| index < by) && later == Later::Keep,
    };
    charged == Charged::Answer && has_passed
}

fn settle(at: Instant, index: usize, stage: &mut Stage, slot: &Slot) {
    let taken = slot.taken.get(index).copied().flatten();
    let asked = slot.asked(index, stage);
    let used = slot.used(index, stage).unwrap_or(asked.cost);
    match taken {
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
