//! Start and outcome of an attempt, in the form in which parts of a strategy receive them.

use crate::{Advice, Classification, Facts, Instant, Method, Status};

/// Attempt that is about to start, or would be the next to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the attempt within its client, from 0 in order of sending. Clients that share a strategy share this
    /// numbering, and their counts of in-flight attempts and ready ops are totals of all of them.
    pub seq: u64,
    /// Number of the op within the run, from 0.
    pub op: u64,
    /// Number of the attempt within its op, from 1. Shed launches do not count.
    pub attempt: u32,
    /// Arrival time of the op.
    pub arrived: Instant,
    /// Result of the op's last try; `None` before the first.
    pub last: Option<Status>,
    /// Classification of the op's last attempt; sheds and deferrals do not change it. [`Classification::Done`] if no
    /// attempt of the op has failed.
    pub last_classification: Classification,
    /// Number of the copy within its round, from 1. It is 0 for the attempt that began the round, so always without
    /// hedging. The fields of a copy are those of that attempt, except `seq` and `attempt`.
    pub copy: u32,
}

/// Attempt that has just ended. It still counts as in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptEnd {
    /// Number of the attempt within its client. An attempt was sent before the last cut if its `seq` is below the next
    /// `seq` at the cut.
    pub seq: u64,
    /// Number of the op within the run.
    pub op: u64,
    /// Number of the attempt within its op, from 1.
    pub attempt: u32,
    /// Send time.
    pub sent_at: Instant,
    /// In-flight attempts of this client just after the attempt was sent, itself included.
    pub in_flight_when_sent: u32,
    /// In-flight attempts of this client now, itself included.
    pub in_flight: u32,
    /// Number of ops of this client that are ready and wait for the limiter. At 0 the client is app-limited.
    pub ready: u64,
    /// True if other attempts of its round are in flight, or one of them has decided the op's result. In that
    /// case, this attempt ends the op's try only if it succeeded. Always false without hedging.
    pub round_continues: bool,
}

/// Result of an attempt, with the server's advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Result as the test harness counts it.
    pub status: Status,
    /// Facts from the wire that strategies request.
    pub facts: Facts,
    /// Classification by the strategy, set before the parts receive the outcome.
    pub classification: Classification,
    /// Advice of the server about retries, as the innermost layer of a strategy parses it.
    pub advice: Advice,
    /// The same advice, as outer layers with other rules for advice parse it.
    pub outer_advice: Advice,
    /// Method of the request. Set and used only for clients with [several methods](crate::StrategySpec::with_methods).
    pub method: Method,
}

impl Outcome {
    /// Creates an outcome without advice or other facts.
    pub const fn plain(status: Status) -> Self {
        Self::advised(status, Advice::None)
    }

    /// Creates an outcome with advice and no other facts.
    pub const fn advised(status: Status, advice: Advice) -> Self {
        let (facts, classification, method) = (Facts::NONE, Classification::from_status(status), Method::Get);
        Self { status, facts, classification, advice, outer_advice: Advice::None, method }
    }
}
