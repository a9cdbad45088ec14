//! Rate algorithms: how many requests may be accepted by when, however long the accepted ones take.

use std::fmt;

use vocabulary::Instant;

use crate::policies::gate::{Decision, Taken};
use crate::standing::Standing;

/// A rate algorithm with its configuration. Its state is separate, so that every key can have its own.
pub(crate) trait Law: fmt::Debug + Send + 'static {
    type State: fmt::Debug + Send;

    fn fresh(&self) -> Self::State;

    /// Reports when the current run began, if one has begun. Most algorithms ignore this.
    fn begin(&self, _state: &mut Self::State, _began: Option<Instant>) {}

    /// Advances the state to an instant, never to an earlier one.
    fn advance(&self, state: &mut Self::State, at: Instant);

    /// Decides about a request of this cost (at least 1) at the instant to which the state has [advanced](Self::advance).
    fn ask(&self, state: &Self::State, at: Instant, cost: u32) -> Decision;

    /// Switches a key's state, as the configuration `before` left it, to this configuration from this instant on. No earlier instant
    /// follows. Tokens accumulated by then are kept as far as they fit.
    fn tune(&self, state: &mut Self::State, at: Instant, before: &Self);

    /// Charges a request of this cost that [`ask`](Self::ask) has just admitted.
    ///
    /// A request that is rejected and counts all the same is charged, too; then the charge is capped at what is available.
    fn charge(&self, state: &mut Self::State, at: Instant, cost: u32);

    /// Records a rejection. Most algorithms ignore this.
    fn turn_away(&self, _state: &mut Self::State, _at: Instant) {}

    /// Refunds part of a charge made at `taken.at`, as far as it still counts. Tokens that arrived since and would have found a full bucket
    /// without the charge are not refunded, nor are charges of a past window. So the charges that stay never total more than could pass
    /// without any refunds (for buckets see [`LeastMissing`](crate::policies::least_missing::LeastMissing), with the proof).
    fn give_back(&self, state: &mut Self::State, at: Instant, taken: Taken);

    fn standing(&self, state: &Self::State, at: Instant) -> Standing;
}

#[cfg(test)]
mod tests;
