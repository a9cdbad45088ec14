//! Removal of requests in flight, because their client cancels them or because the policy has changed.

use vocabulary::Instant;

use crate::policies::Released;
use crate::schedule::InForce;
use crate::{Answer, Config, RequestId, Server, ServerDecision, ServiceModel};

impl Server {
    pub(super) fn cancel(&mut self, now: Instant, id: RequestId) {
        let Some(held) = self.requests.get_mut(id.0 as usize).and_then(Option::take) else {
            // The request has already been answered, but the answer may not have been sent yet. The answer is removed, because the client
            // has disconnected.
            self.answers.retain(|answer| answer.id != id);
            return;
        };
        self.forget_details(id);
        match self.policy.cancel(now, id, &self.service) {
            Some(released) => self.ledger.note(self.of(&held), |account| account.wasted += released.held),
            None => self.forget_stale_messages(),
        }
    }

    /// Drops the messages of cancelled requests, but only when they make up most of the messages.
    fn forget_stale_messages(&mut self) {
        let requests = &self.requests;
        let alive =
            |id: RequestId, message| requests[id.0 as usize].is_some_and(|held| held.message == message);
        if self.coming.len() > 2 * requests.len() {
            self.coming.retain(|(_, message), id| alive(*id, message));
        }
        if self.going.len() > 2 * requests.len() {
            self.going.retain(|(_, message), answer| alive(answer.id, message));
        }
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
        self.ledger.policies.set(self.policies().labels());
        if answers_as_before && self.tune_from(now, &policies) {
            return;
        }
        // The old script and the old stages no longer exist, so answers in flight are replaced by the server's default answers.
        let plain = |answer: &mut Answer| {
            answer.reply = None;
            if let Some(extras) = &mut answer.extras {
                extras.facts = None;
            }
        };
        self.going.for_each_mut(plain);
        self.answers.iter_mut().for_each(plain);
        let other = self.config.admission(self.policies(), self.anchor);
        let mut before = std::mem::replace(&mut self.policy, other);
        self.look_at_answers();
        let mut ids: Vec<RequestId> = self.requests.iter().flatten().map(|held| held.request.id).collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(released) = before.cancel(now, id, &self.service) {
                let mut rejected = Released { verdict: ServerDecision::Rejected, ..released };
                if self.is_open(id) {
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
        if let Some(held) = self.requests[id.0 as usize] {
            self.ledger.on_revocation(self.of(&held), held.request.step);
        }
    }
}
