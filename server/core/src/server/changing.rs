//! Changes of the current policies, by the schedule or by a new configuration, and of the run's clock.

use vocabulary::Instant;

use super::RunClock;
use crate::schedule::{Change, InForce};
use crate::slot::Place;
use crate::{Policies, Request, Server};

impl Server {
    /// Updates the run's clock when a request arrives, because the request may be the first of its run.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, request: &Request) {
        if self.clock.goes_on_with(request.run) {
            return;
        }
        let (slots, run) = (&self.slots, request.run);
        if self.clock.on_arrival(now, run, || slots.iter().all(|slot| slot.place == Place::Gone)) {
            self.begin_schedule(now);
        }
    }

    /// Stops the run's clock after a reset of the counts. The next request starts the clock again.
    pub(super) fn forget_clock(&mut self, now: Instant) {
        self.clock = RunClock::default();
        self.begin_schedule(now);
    }

    fn begin_schedule(&mut self, now: Instant) {
        self.service.began = self.clock.began;
        if self.schedule.is_some() {
            let before = self.policies().clone();
            self.schedule = InForce::new(&self.config, self.anchor, self.clock.began, now);
            self.look_at_changes();
            self.tune_from(now, &before);
        }
    }

    pub(super) fn policies(&self) -> &Policies {
        self.schedule.as_ref().map_or(&self.config.policy, InForce::policies)
    }

    /// Makes the current policies take effect in place of the policies `before`, and keeps the state. Returns false if the policies differ
    /// in anything other than the values of parameters, because the state cannot be kept then.
    pub(super) fn tune_from(&mut self, now: Instant, before: &Policies) -> bool {
        let Some(others) = self.policies().other_figures(before) else { return false };
        for index in others {
            if let Some(stage) = self.policies().stage(index, self.anchor) {
                self.policy.reconfigure(now, index, stage.gate, &self.service);
            }
        }
        self.policy.call(now, &self.service);
        true
    }

    /// Stores the instant of the next change, because it is read for every event.
    pub(super) fn look_at_changes(&mut self) {
        let change = self.schedule.as_ref().and_then(InForce::next);
        self.next_change = change.into_iter().chain(self.next_cap).min().unwrap_or(Instant::FAR_FUTURE);
    }

    /// Applies all changes of the schedule and of the caps that are due. If several caps are due, only the latest one is applied.
    #[inline]
    pub(super) fn follow_schedule(&mut self, at: Instant) {
        if self.next_change <= at {
            self.make_changes(at);
        }
    }

    #[cold]
    fn make_changes(&mut self, at: Instant) {
        if self.next_cap.is_some_and(|next| next <= at) {
            self.next_cap = self.service.caps.next_after(at);
            self.policy.call(at, &self.service);
        }
        while let Some(change) = self.schedule.as_mut().and_then(|schedule| schedule.take_change(at)) {
            match change {
                Change::Slots(then) => self.policy.call(then, &self.service),
                Change::Stage(then, index, stage) => {
                    self.policy.reconfigure(then, index, stage.gate, &self.service);
                }
            }
        }
        self.look_at_changes();
    }

    pub(super) fn is_down(&self, at: Instant) -> bool {
        self.config.outages.cover(at) || self.schedule.as_ref().is_some_and(|schedule| schedule.is_down(at))
    }
}
