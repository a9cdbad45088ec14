//! Removal of requests in flight, because their client cancels them or because the policy has changed.

use vocabulary::Instant;

use crate::policies::Released;
use crate::schedule::InForce;
use crate::slot::{Place, Slot};
use crate::{Config, RequestId, Server, ServerDecision, ServiceModel};

impl Server {
    pub(super) fn cancel(&mut self, now: Instant, id: RequestId) {
        let Some(slot) = self.slots.get_mut(id.0 as usize).filter(|slot| slot.place != Place::Gone) else {
            // The request has already been answered, but the answer may not have been sent yet. The answer is removed, because the client
            // has disconnected.
            self.answers.retain(|answered| *answered != id);
            return;
        };
        let released = self.policy.cancel(now, slot, &self.service);
        slot.end(Place::Gone);
        if let Some(released) = released {
            let of = self.of(&self.slots[id.0 as usize]);
            self.ledger.note(of, |account| account.wasted += released.held);
        }
        let slots = &self.slots;
        self.agenda.retain(2 * slots.len(), |event| slots[event.item() as usize].event == event.order());
    }

    pub(super) fn configure(&mut self, now: Instant, config: Config) {
        // The stages are kept only if the configured answers are unchanged. The reason is that the templates of answers use the names of
        // stages and the status of limits.
        let answers_as_before = config.answers == self.config.answers;
        let policies = self.policies().clone();
        let began = self.clock.began;
        self.service = ServiceModel { began, ..config.service_model() };
        self.next_cap = config.caps.next_after(now);
        self.schedule = InForce::new(&config, self.anchor, began, now);
        self.config = config;
        self.look_at_answers();
        self.look_at_changes();
        self.ledger.policies.set(self.policies().labels());
        if answers_as_before && self.tune_from(now, &policies) {
            return;
        }
        // The old script and the old stages no longer exist, so answers in flight are replaced by the server's default answers.
        let is_answered = |slot: &&mut Slot| matches!(slot.place, Place::Going | Place::Gone);
        for slot in self.slots.iter_mut().filter(is_answered) {
            slot.answer.reply = None;
            if let Some(extras) = &mut slot.answer.extras {
                extras.facts = None;
            }
        }
        let other = self.config.admission(self.policies(), self.anchor);
        let mut before = std::mem::replace(&mut self.policy, other);
        self.look_at_answers();
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            if let Some(released) = before.cancel(now, slot, &self.service) {
                slot.leave_stages();
                let (id, mut rejected) =
                    (released.id, Released { verdict: ServerDecision::Rejected, ..released });
                if slot.is_open {
                    self.decide(&mut rejected);
                } else if released.verdict == ServerDecision::Accepted {
                    self.revoke(id);
                }
                let answer = self.answer(now, &rejected);
                self.answers.extend(answer);
            }
        }
    }

    fn revoke(&mut self, id: RequestId) {
        let slot = &self.slots[id.0 as usize];
        self.ledger.on_revocation(self.of(slot), slot.request.step);
    }
}
