//! What is under way: attempts, and among them retries.

use crate::{Launch, Outcome, Permit, Status};

/// The permit of a retry.
const RETRY: Permit = Permit(1);

/// Attempts in flight, and retries that are under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) attempts: u32,
    pub(super) retries: u32,
}

impl Live {
    /// An attempt was sent. Whether it is a retry, its permit says; that it counts among the retries, its budget says.
    pub(super) fn on_sent(&mut self, launch: &Launch) -> Permit {
        self.attempts = self.attempts.saturating_add(1);
        if launch.attempt > 1 { RETRY } else { Permit::default() }
    }

    /// An attempt ended. A retry that came to be deferred goes on being one for a budget that counts it from its permission.
    pub(super) fn on_ended(&mut self, outcome: &Outcome, permit: Permit, deferred_goes_on: bool) {
        self.attempts = self.attempts.saturating_sub(1);
        if permit == RETRY && !(deferred_goes_on && outcome.status == Status::Deferred) {
            self.retries = self.retries.saturating_sub(1);
        }
    }
}
