//! Laws about rates: how many requests may be accepted by when, whatever those that are accepted take.

use std::fmt;

use vocabulary::Instant;

use crate::policies::gate::{Ruling, Taken};
use crate::standing::Standing;

/// A law with its figures. What it remembers is apart, so that every key can have its own.
pub(crate) trait Law: fmt::Debug + Send + 'static {
    /// What it remembers.
    type State: fmt::Debug + Send;

    /// Nothing has been accepted yet.
    fn fresh(&self) -> Self::State;

    /// The run of whoever asks began at this instant, if at all; most laws do not care.
    fn begin(&self, _state: &mut Self::State, _began: Option<Instant>) {}

    /// Time goes on; instants never go back.
    fn advance(&self, state: &mut Self::State, at: Instant);

    /// What becomes of a request of this cost, at least 1, at the instant to which the state has [advanced](Self::advance).
    fn ask(&self, state: &Self::State, at: Instant, cost: u32) -> Ruling;

    /// From this instant on it is this law, and not the one before; the state is as that left it, and instants before it are past.
    /// What has come by then stays, as far as it fits.
    fn tune(&self, state: &mut Self::State, at: Instant, before: &Self);

    /// A request of this cost that [`ask`](Self::ask) has just let pass is accepted.
    ///
    /// A request that is rejected and counts all the same is charged, too: more than there is cannot be taken.
    fn charge(&self, state: &mut Self::State, at: Instant, cost: u32);

    /// A request is rejected; most laws do not remember that.
    fn turn_away(&self, _state: &mut Self::State, _at: Instant) {}

    /// So much of what was charged at an instant comes back, as far as it still counts: what has come since anyway would have come to a full
    /// bucket without the charge, and what was charged of a window that is over counts no more. So of what does not come back never more
    /// passes than if nothing came back (for buckets see [`LeastMissing`](crate::policies::least_missing::LeastMissing), with the proof).
    fn give_back(&self, state: &mut Self::State, at: Instant, taken: Taken);

    /// Where it stands at the instant to which the state has advanced.
    fn standing(&self, state: &Self::State, at: Instant) -> Standing;
}

#[cfg(test)]
mod tests;
