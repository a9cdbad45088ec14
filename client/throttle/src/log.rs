//! Log of a throttle: what happened to its dispatcher, and what the dispatcher decided.

use tailback::{AttemptKey, Due, GiveUp, Instant, Launch, OpKey, Outcome};

/// One entry of a log. Replayed in the same order, the inputs make a [`tailback::Dispatcher`] with the same strategy and seed decide the
/// same again. Instants count from the creation of the throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Input: a call began.
    Arrive {
        /// Instant of the arrival.
        at: Instant,
        /// Number of the call.
        op: u32,
        /// Deadline of the call.
        deadline: Option<Instant>,
    },
    /// Input: an event was due.
    Fire {
        /// Instant at which the event was processed.
        at: Instant,
        /// Instant at which the event was due.
        due_at: Instant,
        /// Kind of the event.
        due: Due,
    },
    /// Input: an attempt ended.
    End {
        /// Instant of the end.
        at: Instant,
        /// The attempt.
        attempt: AttemptKey,
        /// Instant at which the attempt was sent.
        sent_at: Instant,
        /// Outcome of the attempt.
        outcome: Outcome,
    },
    /// Input: a call was dropped.
    Cancel {
        /// Instant of the cancellation.
        at: Instant,
        /// The call.
        op: OpKey,
        /// Attempt of the call in flight.
        attempt: Option<AttemptKey>,
    },
    /// Input: an admission was taken back, because a hold began before the request was sent.
    Unsend {
        /// Instant at which it was taken back.
        at: Instant,
        /// The attempt.
        attempt: AttemptKey,
    },
    /// Decision: an attempt was admitted.
    Admit(Launch),
    /// Decision: a call ended without success.
    GiveUp {
        /// Instant of the decision.
        at: Instant,
        /// Number of the call.
        op: u32,
        /// Reason of the decision.
        why: GiveUp,
    },
}
