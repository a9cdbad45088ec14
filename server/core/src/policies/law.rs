//! Laws about rates: how many requests may be accepted by when, whatever those that are accepted take.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

/// A law with its figures. What it remembers is apart, so that every key can have its own.
pub(crate) trait Law: fmt::Debug + Send + 'static {
    /// What it remembers.
    type State: fmt::Debug + Send;

    /// Nothing has been accepted yet.
    fn fresh(&self) -> Self::State;

    /// What becomes of a request of this cost; instants never go back. Only what time alone changes is changed.
    fn ask(&self, state: &mut Self::State, at: Instant, cost: u32) -> Ruling;

    /// A request of this cost that [`ask`](Self::ask) has just let pass is accepted.
    fn charge(&self, state: &mut Self::State, at: Instant, cost: u32);
}

/// What a law says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It may be accepted.
    Pass,
    /// Not before this much time has passed, if nothing else is accepted until then; to the nanosecond, rounded up. `None`: never.
    Reject(Option<Duration>),
}

/// So many nanoseconds; what is beyond 584 years is never.
pub(crate) fn after(nanos: u128) -> Ruling {
    Ruling::Reject(u64::try_from(nanos).ok().map(Duration::from_nanos))
}

#[cfg(test)]
mod tests;
