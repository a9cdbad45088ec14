//! Interface of rate algorithms. A rate algorithm limits how many requests are accepted over time, regardless of how long the accepted
//! requests take.

use std::fmt;

use vocabulary::Instant;

use crate::LimitStatus;
use crate::policies::{Charge, Decision};

/// Rate algorithm with its configuration. The algorithm's state is separate, so that every key can have its own state.
pub(crate) trait RateAlgorithm: Clone + fmt::Debug + Send + Sync + 'static {
    type State: Clone + fmt::Debug + Send + Sync;

    fn fresh(&self) -> Self::State;

    /// Sets the instant at which the current run began, if the run has begun. Most algorithms ignore this instant.
    fn begin(&self, _state: &mut Self::State, _began: Option<Instant>) {}

    /// Advances the algorithm's state to the instant `at`, which must not be earlier than the instant of the state.
    fn advance(&self, state: &mut Self::State, at: Instant);

    /// Decides on a request of this cost (at least 1). The state must already be [advanced](Self::advance) to `at`.
    fn ask(&self, state: &Self::State, at: Instant, cost: u32) -> Decision;

    /// Switches the state of a key from the configuration `before` to this configuration. The switch happens at the instant `at`, and later
    /// calls must not have earlier instants. Tokens that the key has at this instant are kept, as far as they fit into the new
    /// configuration. By default, the state is advanced with the old configuration, and then kept. For example, a fixed window keeps its
    /// end, so that a new length applies from the next window on, and requests that have left the old sliding window are not counted again, even if the new window is longer.
    fn reconfigure(&self, state: &mut Self::State, at: Instant, before: &Self) {
        before.advance(state, at);
    }

    /// Charges a request of this cost that [`ask`](Self::ask) has just admitted.
    ///
    /// If the stage counts rejected requests, this method also charges a request that was rejected. Such a charge is limited to the amount
    /// that is available.
    fn charge(&self, state: &mut Self::State, at: Instant, cost: u32);

    /// Records a rejection. Most algorithms ignore rejections.
    fn turn_away(&self, _state: &mut Self::State, _at: Instant) {}

    /// Refunds a charge that was made at `taken.at`, as far as the charge still counts. A charge of a past window no longer counts. In a
    /// bucket, some tokens that arrived since then might have been lost without the charge, because the bucket would have been full. These
    /// tokens are not refunded either. The remaining charges therefore never total more than could pass without any refunds. The proof for
    /// buckets is in [`LeastMissing`](crate::policies::least_missing::LeastMissing).
    fn refund(&self, state: &mut Self::State, at: Instant, taken: Charge);

    fn limit_status(&self, state: &Self::State, at: Instant) -> LimitStatus;
}

#[cfg(test)]
mod tests;
