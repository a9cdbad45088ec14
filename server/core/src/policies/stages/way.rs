//! A request's way through the stages: it passes, waits or is turned away, is served, and comes to its end.

use std::time::Duration;

use vocabulary::Instant;

use super::Stages;
use super::passing::Rejection;
use crate::policies::admission::{Admission as _, Arrived, Released};
use crate::policies::common::{Charged, Common, Later, Own};
use crate::policies::gate::{Asked, Ruling, Taken};
use crate::request::{RequestId, Verdict};
use crate::service::ServiceModel;

impl Stages {
    /// The stages from this one on, and what serves behind the last.
    pub(super) fn walk(
        &mut self,
        at: Instant,
        id: RequestId,
        from: usize,
        service: &ServiceModel,
    ) -> Arrived {
        for stage in from..self.gates.len() {
            let Some(asked) = self.asked(id, stage) else { return Arrived::Open };
            match self.gates[stage].gate.ask(at, &asked, service) {
                Ruling::Pass => self.pass(at, id, stage, false),
                Ruling::PassAfter(wait) => {
                    self.pass(at, id, stage, false);
                    let entry = (at + wait, self.waited);
                    self.waited += 1;
                    self.waits.insert(entry, id);
                    self.slot(id).wait = Some(entry);
                    return Arrived::Open;
                }
                Ruling::Queue => {
                    self.slot(id).queued = Some(stage);
                    return Arrived::Open;
                }
                Ruling::Reject(wait) => {
                    self.reject(at, id, stage, wait, service);
                    return self.turn_away(at, id, service);
                }
            }
        }
        self.serve(at, id, service)
    }

    /// The same for a request that had to wait: what is known at once is told as soon as it is asked for.
    pub(super) fn go_on(&mut self, at: Instant, id: RequestId, from: usize, service: &ServiceModel) {
        let arrived = self.walk(at, id, from, service);
        self.tell_late(at, id, arrived);
    }

    /// A request that had to wait is turned away.
    pub(super) fn turn_away_late(&mut self, at: Instant, id: RequestId, service: &ServiceModel) {
        let arrived = self.turn_away(at, id, service);
        self.tell_late(at, id, arrived);
    }

    fn tell_late(&mut self, at: Instant, id: RequestId, arrived: Arrived) {
        let (verdict, advice, reply) = match arrived {
            // Its end comes by itself.
            Arrived::Open | Arrived::Decided(_) => return,
            Arrived::Done { verdict, advice } => (verdict, advice, None),
            Arrived::Scripted { verdict, reply } => (verdict, None, Some(reply)),
        };
        let busy = self.load().busy + u32::from(verdict == Verdict::Accepted);
        self.ready.push_back((at, Released { advice, reply, ..Released::at_once(id, verdict, busy) }));
    }

    /// A request has passed a stage, which has charged it already if it waited in its queue.
    pub(super) fn pass(&mut self, at: Instant, id: RequestId, stage: usize, is_charged: bool) {
        let Some(asked) = self.asked(id, stage) else { return };
        let Self { gates, passing, .. } = self;
        let slot = &mut passing[id.0 as usize];
        slot.queued = None;
        slot.passed = stage + 1;
        if is_charged || gates[stage].common.charged == Charged::Arrival {
            if !is_charged {
                gates[stage].gate.take(at, &asked);
            }
            slot.taken[stage] = Some(Taken { at, cost: asked.cost });
        }
    }

    /// A stage turns a request away.
    pub(super) fn reject(
        &mut self,
        at: Instant,
        id: RequestId,
        stage: usize,
        wait: Option<Duration>,
        service: &ServiceModel,
    ) {
        let Some(asked) = self.asked(id, stage) else { return };
        let up_to = &self.gates[..=stage];
        let occupies = service.rejects_occupy && up_to.iter().any(|stage| stage.gate.holds_places());
        let stage_of = &mut self.gates[stage];
        let holds_places = stage_of.gate.holds_places();
        // As the seed's server has it: a rejection is as busy as a served one, even above the cap.
        if (holds_places && occupies) || (!holds_places && stage_of.common.own == Own::Yes) {
            stage_of.gate.take(at, &asked);
        }
        // Whoever counts rejections has to wait longer for that.
        let wait = match stage_of.common.own {
            Own::Yes if !holds_places => match stage_of.gate.ask(at, &asked, service) {
                Ruling::Reject(wait) => wait,
                _ => wait,
            },
            _ => wait,
        };
        let wait = self.undo(at, id, stage, wait);
        let slot = self.slot(id);
        slot.queued = None;
        slot.rejection = Some(Rejection { stage, free_at: wait.map(|wait| at + wait), occupies });
        if !occupies {
            self.free_places(at, id, service);
        }
    }

    /// What serves turned a request away that had passed so many stages, or the next of them did: they hear of it, who stands next to it
    /// first, and what they took comes back. The wait that is told, as they leave it.
    fn undo(
        &mut self,
        at: Instant,
        id: RequestId,
        passed: usize,
        mut wait: Option<Duration>,
    ) -> Option<Duration> {
        for stage in (0..passed).rev() {
            let Some(asked) = self.asked(id, stage) else { return wait };
            let taken = self.slot(id).taken[stage];
            let Self { gates, passing, .. } = self;
            wait = gates[stage].gate.overhear(at, &asked, wait);
            if gates[stage].common.later == Later::Back
                && let Some(taken) = taken
            {
                gates[stage].gate.give_back(at, &asked, taken);
                passing[id.0 as usize].taken[stage] = None;
            }
        }
        wait
    }

    /// Keeps where the stages stand for a request, now that it is decided about. A charge that comes only with its answer counts already:
    /// Kong's handler subtracts the request from what remains before it writes the headers.
    fn look(&mut self, at: Instant, id: RequestId, service: &ServiceModel) {
        self.slot(id).decided_at = at;
        for stage in 0..self.gates.len() {
            let Some(asked) = self.asked(id, stage) else { return };
            let mut standing = self.gates[stage].gate.standing(at, asked.key, service);
            if let Some(standing) = &mut standing
                && self.is_charged_with_answer(id, stage)
            {
                standing.remaining = standing.remaining.saturating_sub(asked.cost.into());
            }
            self.slot(id).standings.push(standing);
        }
    }

    /// Whether a stage charges a request that was decided about only when it is answered.
    fn is_charged_with_answer(&self, id: RequestId, stage: usize) -> bool {
        let Common { charged, later, .. } = self.gates[stage].common;
        let rejection = self.passing.get(id.0 as usize).and_then(|slot| slot.rejection);
        let has_passed = match rejection {
            None => true,
            Some(rejection) => stage < rejection.stage && later == Later::Keep,
        };
        charged == Charged::Answer && has_passed
    }

    /// A rejection takes its time.
    fn turn_away(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Arrived {
        let slot = self.slot(id);
        let (Some(request), Some(rejection)) = (slot.request(), slot.rejection) else { return Arrived::Open };
        let takes = service.reject_time(&request);
        self.look(at, id, service);
        let arrived = self.holding.take(at, id, Verdict::Rejected, rejection.occupies, takes);
        match arrived {
            Arrived::Done { verdict, .. } => {
                let advice = rejection.free_at.map(|free_at| free_at.since(at));
                self.finish(at, id, Some(verdict), service);
                Arrived::Done { verdict, advice }
            }
            other => other,
        }
    }

    /// Behind the last stage.
    fn serve(&mut self, at: Instant, id: RequestId, service: &ServiceModel) -> Arrived {
        let Some(request) = self.slot(id).request() else { return Arrived::Open };
        self.look(at, id, service);
        let arrived = if let Some(server) = &mut self.server {
            server.arrive(at, &request, service)
        } else {
            let in_service = self.holding.load().in_service;
            let takes = self.gates.iter().fold(service.service_time(&request), |takes, stage| {
                stretched(takes, stage.gate.stretch(in_service))
            });
            self.holding.take(at, id, Verdict::Accepted, true, takes)
        };
        match arrived {
            Arrived::Decided(verdict) if verdict != Verdict::Accepted => {
                let (stage, occupies) = (self.gates.len(), service.rejects_occupy);
                let free_at = self.undo(at, id, stage, None).map(|wait| at + wait);
                self.slot(id).rejection = Some(Rejection { stage, free_at, occupies });
                if !occupies {
                    self.free_places(at, id, service);
                }
            }
            Arrived::Done { verdict, advice } => {
                let advice = self.end_of_service(at, id, verdict, advice, service);
                return Arrived::Done { verdict, advice };
            }
            Arrived::Scripted { verdict, .. } => {
                self.end_of_service(at, id, verdict, None, service);
            }
            Arrived::Open | Arrived::Decided(_) => {}
        }
        arrived
    }

    /// What served is done with a request. What it is advised in the end.
    fn end_of_service(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: Verdict,
        advice: Option<Duration>,
        service: &ServiceModel,
    ) -> Option<Duration> {
        let advice = match verdict {
            Verdict::Accepted => advice,
            _ => self.undo(at, id, self.gates.len(), advice),
        };
        self.finish(at, id, Some(verdict), service);
        advice
    }

    /// A request whose time is over.
    pub(super) fn over(&mut self, at: Instant, released: Released, service: &ServiceModel) -> Released {
        let id = released.id;
        let advice = if let Some(rejection) = self.slot(id).rejection {
            self.finish(at, id, Some(released.verdict), service);
            // What is left of the exact wait.
            rejection.free_at.map(|free_at| free_at.since(at)).or(released.advice)
        } else {
            self.end_of_service(at, id, released.verdict, released.advice, service)
        };
        Released { advice, ..released }
    }

    /// A request comes to its end: what it has cost is settled, unless nobody waits for its answer, and what it held is free. Where it is charged
    /// only now and nothing comes back, it is charged whatever has become of it.
    pub(super) fn finish(
        &mut self,
        at: Instant,
        id: RequestId,
        verdict: Option<Verdict>,
        service: &ServiceModel,
    ) {
        let has_passed = self.slot(id).rejection.map_or(self.gates.len(), |rejection| rejection.stage);
        for stage in 0..has_passed {
            let Common { charged, later, .. } = self.gates[stage].common;
            match verdict {
                Some(Verdict::Accepted) => self.settle(at, id, stage),
                Some(_) if (charged, later) == (Charged::Answer, Later::Keep) => {
                    if let Some(asked) = self.asked(id, stage) {
                        self.gates[stage].gate.take(at, &asked);
                    }
                }
                _ => {}
            }
        }
        self.free_places(at, id, service);
        self.slot(id).end();
    }

    /// An accepted request is charged what it has cost, as far as that was not done.
    fn settle(&mut self, at: Instant, id: RequestId, stage: usize) {
        let Some(asked) = self.asked(id, stage) else { return };
        let Self { gates, passing, .. } = self;
        let slot = &passing[id.0 as usize];
        let stage_of = &mut gates[stage];
        let used = slot.used(stage, &stage_of.common).unwrap_or(asked.cost);
        match slot.taken[stage] {
            None => stage_of.gate.take(at, &Asked { cost: used, ..asked }),
            Some(taken) if used < taken.cost => {
                stage_of.gate.give_back(at, &asked, Taken { cost: taken.cost - used, ..taken });
            }
            Some(taken) if used > taken.cost => {
                stage_of.gate.take(at, &Asked { cost: used - taken.cost, ..asked });
            }
            Some(_) => {}
        }
    }

    /// Places that a request holds are free.
    fn free_places(&mut self, at: Instant, id: RequestId, service: &ServiceModel) {
        let slot = self.slot(id);
        let own = slot.rejection.filter(|rejection| rejection.occupies).map(|rejection| rejection.stage);
        let passed = std::mem::take(&mut slot.passed);
        for stage in 0..self.gates.len() {
            let Some(asked) = self.asked(id, stage) else { return };
            let gate = &mut self.gates[stage].gate;
            if gate.holds_places() && (stage < passed || own == Some(stage)) {
                gate.ended(at, &asked, service);
            }
        }
    }

    /// A request as a stage sees it.
    pub(super) fn asked(&self, id: RequestId, stage: usize) -> Option<Asked> {
        self.passing.get(id.0 as usize)?.asked(stage, &self.gates.get(stage)?.common)
    }
}

/// So many times as long, in thousandths.
fn stretched(time: Duration, thousandths: u64) -> Duration {
    if thousandths == 1000 {
        return time;
    }
    let nanos = time.as_nanos().saturating_mul(u128::from(thousandths)) / 1000;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
