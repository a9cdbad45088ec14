//! Counts of in-flight attempts and of pending or in-flight retries, for budgets that limit retries to a share of
//! attempts.

use crate::{Candidate, Outcome, Permit, Status};

const RETRY: Permit = Permit(1);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) attempts: u32,
    pub(super) retries: u32,
}

impl Live {
    /// Counts a sent attempt and returns a permit that marks retries. It does not change `retries`; the budget itself
    /// does.
    pub(super) fn on_sent(&mut self, launch: &Candidate) -> Permit {
        self.attempts = self.attempts.saturating_add(1);
        if launch.attempt > 1 { RETRY } else { Permit::default() }
    }

    /// Counts the end of an attempt. With `deferred_goes_on`, a deferred retry stays counted. Budgets that count a
    /// retry from its permission need this.
    pub(super) fn on_ended(&mut self, outcome: &Outcome, permit: Permit, deferred_goes_on: bool) {
        self.attempts = self.attempts.saturating_sub(1);
        if permit == RETRY && !(deferred_goes_on && outcome.status == Status::Deferred) {
            self.retries = self.retries.saturating_sub(1);
        }
    }
}
