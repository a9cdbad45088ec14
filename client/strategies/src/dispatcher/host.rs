//! Trait of the observer of a dispatcher.

use super::in_flight::Attempt;
use super::op::Op;
use crate::{Instant, Method, Outcome, Status, Strategy};

/// Observer of a dispatcher. All methods have defaults that do nothing and cost nothing.
///
/// Ops are identified by their slot, which is a small number and reused once its op has ended.
pub trait Host: Sized {
    /// Data that the host attaches to each op. Many ops may wait, so it should be small.
    type Op: Copy + std::fmt::Debug + Default;
    /// Data that the host attaches to each attempt in flight.
    type Attempt: Copy + std::fmt::Debug + Default;
    /// Data that the driver passes to the host along with the end of an attempt.
    type Note;

    /// Returns the method of the op's requests, if the strategy's rules need it.
    #[inline]
    fn method(&self, _op: u32) -> Option<Method> {
        None
    }

    /// Returns whether the deadline of an op has passed, so that the op is not retried.
    #[inline]
    fn is_late(&self, _op: &Op<Self::Op>, _at: Instant) -> bool {
        false
    }

    /// Returns whether an op may be retried after this failure. It is not called after a rejection.
    #[inline]
    fn retries(&self, _op: &Op<Self::Op>, _failure: &Outcome) -> bool {
        true
    }

    /// Creates the data of an attempt that is launched at `at`.
    #[inline]
    fn attempt(&self, _at: Instant, _slot: u32, _op: &Op<Self::Op>) -> Self::Attempt {
        Self::Attempt::default()
    }

    /// Records that an op got a slot, which it keeps until it ends.
    #[inline]
    fn on_stored(&mut self, _slot: u32, _op: &Op<Self::Op>) {}

    /// Records that an attempt was sent, or that it is known now that it was. `in_flight` is the number of attempts in flight when it was
    /// sent, including this one.
    #[inline]
    fn on_sent(&mut self, _attempt: &Attempt<Self::Attempt>, _op: &Op<Self::Op>, _in_flight: u64) {}

    /// Records that a hedged copy was sent while another attempt of its op was in flight.
    #[inline]
    fn on_copy(&mut self) {}

    /// Records that an attempt ended. Its strategy has already observed the end.
    #[inline]
    fn on_ended(&mut self, _at: Instant, _ended: EndedAttempt<'_, Self>) {}

    /// Records that an attempt was taken back before it was sent. `in_flight` is the number of attempts that remain in flight.
    #[inline]
    fn on_unsent(&mut self, _at: Instant, _attempt: &Attempt<Self::Attempt>, _in_flight: u64) {}

    #[doc(hidden)]
    /// Records that the server did not start an attempt, because too few slots were free.
    #[inline]
    fn on_deferred(&mut self) {}

    /// Records that the strategy of a client may report other gauges than before.
    #[inline]
    fn on_gauges(&mut self, _at: Instant, _client: u32, _strategy: &Strategy) {}

    /// Records that a client has sent the ops that its strategy admits at present.
    #[inline]
    fn on_launched(&mut self, _at: Instant, _client: u32, _strategy: &Strategy) {}

    /// Records that a client sends nothing until `until`, or an op waits for its next copy until then.
    #[inline]
    fn on_wait(&mut self, _at: Instant, _until: Instant) {}

    /// Records that a budget refused to send an attempt.
    #[inline]
    fn on_shed(&mut self, _at: Instant, _op: u32) {}

    /// Records that an attempt failed, and that its op is not done.
    #[inline]
    fn on_in_vain(&mut self, _at: Instant) {}

    /// Records that the attempt that just failed took no time, and its op is retried at the same instant.
    #[inline]
    fn on_fruitless(&mut self, _at: Instant) {}

    /// Records that an op backs off.
    #[inline]
    fn on_asleep(&mut self, _at: Instant, _backoff: Backoff<'_, Self>) {}

    /// Records that the backoff of an op is over, or that the op ended during it.
    #[inline]
    fn on_awake(&mut self, _slot: u32) {}

    /// Records that an op is done. `note` belongs to the attempt that succeeded.
    #[inline]
    fn on_done(&mut self, _at: Instant, _slot: u32, _op: &Op<Self::Op>, _note: Option<&Self::Note>) {}

    /// Records that an op ended without success.
    #[inline]
    fn on_given_up(&mut self, _at: Instant, _slot: u32, _op: &Op<Self::Op>, _why: GiveUp) {}
}

/// End of an attempt, as [`Host::on_ended`] observes it.
#[derive(Debug)]
pub struct EndedAttempt<'a, H: Host> {
    /// The attempt, which is no longer in flight.
    pub attempt: &'a Attempt<H::Attempt>,
    /// Op of the attempt, before the decision what happens to it.
    pub op: &'a mut Op<H::Op>,
    /// Outcome of the attempt, with the strategy's classification.
    pub outcome: &'a Outcome,
    /// Instant at which the attempt was sent.
    pub sent_at: Instant,
    /// Data that the driver passed along. `None` if the dispatcher ended the attempt itself: by its timeout, or because it was withdrawn.
    pub note: Option<&'a H::Note>,
    /// Number of attempts that remain in flight.
    pub in_flight: u64,
    /// Strategy of the attempt's client.
    pub strategy: &'a Strategy,
}

/// Backoff of an op, as [`Host::on_asleep`] observes it.
#[derive(Debug)]
pub struct Backoff<'a, H: Host> {
    /// Slot of the op.
    pub slot: u32,
    /// The op.
    pub op: &'a Op<H::Op>,
    /// Instant at which the backoff is over.
    pub until: Instant,
    /// Whether the op is retried then. Otherwise it is given up then, because its client reports failures late.
    pub is_retried: bool,
    /// Outcome of the try that failed.
    pub outcome: &'a Outcome,
    /// Strategy of the op's client.
    pub strategy: &'a Strategy,
}

/// Reason why an op ended without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    /// The deadline passed while the op waited.
    Expired,
    /// An attempt failed after the deadline.
    Late,
    /// The strategy does not retry the op after a try with this status.
    After(Status),
}
