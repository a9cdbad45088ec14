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
    /// Counts a sent attempt as in flight, and returns a permit that states whether the attempt is a retry. The field
    /// `retries` is not changed. The budget that calls this function must count retries itself.
    pub(super) fn on_sent(&mut self, launch: &Candidate) -> Permit {
        self.attempts = self.attempts.saturating_add(1);
        if launch.attempt > 1 { RETRY } else { Permit::default() }
    }

    /// Subtracts an ended attempt from the counts. If `deferred_goes_on` is true, a retry that the server deferred
    /// remains in the count of retries. Budgets that count a retry from the moment of its permission set this flag.
    pub(super) fn on_ended(&mut self, outcome: &Outcome, permit: Permit, deferred_goes_on: bool) {
        self.attempts = self.attempts.saturating_sub(1);
        if permit == RETRY && !(deferred_goes_on && outcome.status == Status::Deferred) {
            self.retries = self.retries.saturating_sub(1);
        }
    }
}
