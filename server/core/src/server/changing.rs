//! What changes by the schedule, or because the configuration is another: the figures of policies, and the clock.

use vocabulary::Instant;

use super::{RunClock, Server};
use crate::policy_stack::Policies;
use crate::request::Request;
use crate::schedule::{Change, InForce};

impl Server {
    /// A request comes, perhaps the first of its run.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, request: &Request) {
        if self.clock.goes_on_with(request.run.map(|counted| counted.run)) {
            return;
        }
        let (requests, run) = (&self.requests, request.run.map(|counted| counted.run));
        if self.clock.on_arrival(now, run, || requests.iter().all(Option::is_none)) {
            self.begin_schedule(now);
        }
    }

    /// The counts begin anew: so does the clock, with the next request.
    pub(super) fn forget_clock(&mut self, now: Instant) {
        self.clock = RunClock::default();
        self.begin_schedule(now);
    }

    /// The clock is another: everything is as it is at its time.
    fn begin_schedule(&mut self, now: Instant) {
        self.service.began = self.clock.began();
        if self.schedule.is_some() {
            let before = self.policies().clone();
            self.schedule = InForce::new(&self.config, self.anchor, self.clock.began(), now);
            self.tune_from(now, &before);
        }
    }

    /// The policies as they are just now.
    pub(super) fn policies(&self) -> &Policies {
        self.schedule.as_ref().map_or(&self.config.policy, InForce::policies)
    }

    /// The policies are no longer these. Whether those in force could follow: only figures are others.
    pub(super) fn tune_from(&mut self, now: Instant, before: &Policies) -> bool {
        let Some(others) = self.policies().other_figures(before) else { return false };
        for index in others {
            if let Some(stage) = self.policies().stage(index, self.anchor) {
                self.policy.tune(now, index, stage.gate, &self.service);
            }
        }
        self.policy.call(now, &self.service);
        true
    }

    /// Whether something of the schedule is due, or another of the caps.
    pub(super) fn change_is_due(&self, at: Instant) -> bool {
        self.next_cap.is_some_and(|next| next <= at)
            || self.schedule.as_ref().is_some_and(|schedule| schedule.next().is_some_and(|next| next <= at))
    }

    /// Everything of the schedule that is due, and of the caps: of those only the latest counts.
    #[inline]
    pub(super) fn follow_schedule(&mut self, at: Instant) {
        if self.schedule.is_some() || self.next_cap.is_some() {
            self.make_changes(at);
        }
    }

    fn make_changes(&mut self, at: Instant) {
        if self.next_cap.is_some_and(|next| next <= at) {
            self.next_cap = self.service.caps.next_after(at);
            self.policy.call(at, &self.service);
        }
        while let Some(change) = self.schedule.as_mut().and_then(|schedule| schedule.take_change(at)) {
            match change {
                Change::Slots(then) => self.policy.call(then, &self.service),
                Change::Stage(then, index, stage) => self.policy.tune(then, index, stage.gate, &self.service),
            }
        }
    }

    /// When something changes for which somebody waits; else it is soon enough when somebody comes.
    pub(super) fn next_call(&self) -> Option<Instant> {
        if (self.schedule.is_none() && self.next_cap.is_none()) || !self.policy.is_awaited() {
            return None;
        }
        let change = self.schedule.as_ref().and_then(InForce::next);
        change.into_iter().chain(self.next_cap).min()
    }

    /// Whether everybody is turned away.
    pub(super) fn is_down(&self, at: Instant) -> bool {
        self.config.outages.cover(at) || self.schedule.as_ref().is_some_and(|schedule| schedule.is_down(at))
    }
}
