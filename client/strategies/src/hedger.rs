//! `Hedger` trait: decides when copies of an unanswered attempt are sent.

use std::time::Duration;

use vocabulary::choices;

use crate::{AttemptEnd, Candidate, Gauges, Instant, Outcome};

/// Maximum number of copies of one attempt. Together with the attempt itself there are 5 requests, gRPC's maximum for a
/// hedged call (grpc/proposal `A6-client-retries.md`, "Limits on Retries and Hedges").
pub const MAX_COPIES: u32 = 4;

/// Part of a strategy that decides when to send copies. A copy is a further attempt of an op that is sent while an
/// earlier attempt is still in flight. The first attempt to succeed ends the others.
///
/// A *round* consists of an attempt that is not a copy, and its copies. Each copy is due at one instant. If limiters or
/// budgets do not admit the copy at that instant, it is never sent. The due time of the next copy does not change. When
/// all attempts of a round have failed, the retry policy decides as after a single failure.
///
/// # Example
///
/// A hedger that sends one copy if there is no answer after 50 ms:
///
/// ```
/// use std::time::Duration;
/// use tailback::{AfterFailure, Candidate, Copies, Hedger, Instant, Part, Rules, Strategy};
///
/// struct OneCopy;
///
/// impl Hedger for OneCopy {
///     fn on_sent(&mut self, _: Instant, _: &Candidate) -> Option<Copies> {
///         Some(Copies { count: 1, delay: Duration::from_millis(50) })
///     }
///
///     fn after_failure(&self) -> AfterFailure {
///         AfterFailure::Wait
///     }
/// }
///
/// let strategy = Strategy::new(42, [Part::Hedging(Box::new(OneCopy))], Rules::default());
/// assert!(!strategy.only_retries());
/// ```
pub trait Hedger: Send {
    /// Returns the copies that may follow the attempt `launch`, or `None` for no copies. The client calls this method
    /// just after it has sent `launch`, which is not itself a copy.
    fn on_sent(&mut self, now: Instant, launch: &Candidate) -> Option<Copies>;

    /// Returns the effect of one failed attempt on the other attempts of its hedging round. The effect applies only if
    /// the rules of the strategy allow a retry of the op.
    fn after_failure(&self) -> AfterFailure;

    /// Records the end of an attempt or a copy.
    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, _outcome: &Outcome) {}

    /// Writes the hedger's gauges, which are values that dashboards plot over time.
    fn report(&self, _gauges: &mut Gauges) {}
}

/// Copies of an attempt that a hedger may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// Number of copies of the attempt, at most [`MAX_COPIES`].
    pub count: u32,
    /// Delay of each copy. It starts when the previous copy was sent; for the first copy, when the attempt was sent.
    pub delay: Duration,
}

choices! {
    /// Effect of one failed attempt on the other attempts of its hedging round.
    pub enum AfterFailure {
        /// The next copy is sent at once, as in gRPC and Polly.
        Next = "next",
        /// The other attempts of the round continue unchanged, as in Finagle's `BackupRequestFilter`.
        Wait = "wait",
        /// The round ends as soon as one of its attempts ends, and the outcome of that attempt is the outcome of the op
        /// (tower).
        End = "end",
    }
}
