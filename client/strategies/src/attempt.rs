//! Start and outcome of an attempt, as data that the parts of a strategy receive.

use crate::{Advice, Classification, Facts, Instant, Method, Quota, Status};

/// Attempt that is about to start, or that would be the next to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the attempt within its client, from 0 in order of sending. Clients that share a strategy also share
    /// one numbering. Counts of in-flight attempts and of ready ops then include all clients that share the strategy.
    pub seq: u64,
    /// Number of the op within the run, from 0.
    pub op: u64,
    /// Number of the attempt within its op, from 1. Launches that a budget shed are not counted.
    pub attempt: u32,
    /// Arrival time of the attempt's op.
    pub arrived: Instant,
    /// Result of the op's last try; `None` before its first try.
    pub last: Option<Status>,
    /// Classification of the op's last attempt. A launch that was shed or deferred is not an attempt, so it does not
    /// change this value. The value is [`Classification::Done`] if no attempt of the op has failed.
    pub last_classification: Classification,
    #[doc(hidden)]
    /// Number of this hedged copy within its hedging round, from 1. It is 0 for the attempt that began the round, and
    /// always 0 without hedging. A copy differs from the attempt that began its round only in this number, `seq` and
    /// `attempt`.
    pub copy: u32,
}

/// Attempt that has just ended. It is still included in the number of in-flight attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptEnd {
    /// Number of the attempt within its client. A limiter uses this number to identify attempts that were sent before
    /// the last cut of its window. Their numbers are lower than that of the first attempt after the cut.
    pub seq: u64,
    /// Number of the attempt's op within the run.
    pub op: u64,
    /// Number of the attempt within its op, from 1.
    pub attempt: u32,
    /// Time at which the attempt was sent.
    pub sent_at: Instant,
    /// Number of in-flight attempts of this client just after the attempt was sent, including this attempt.
    pub in_flight_when_sent: u32,
    /// Number of in-flight attempts of this client now, including this attempt.
    pub in_flight: u32,
    /// Number of ops of this client that are ready and wait for the limiter. If it is 0, the client is app-limited: it
    /// has nothing more to send.
    pub ready: u64,
    /// True if other attempts of the same hedging round are still in flight, or if one of them has already decided the
    /// op's result. The end of the attempt then ends the op's try only if the attempt succeeded. Always false without
    /// hedging.
    pub round_continues: bool,
}

/// Result of an attempt, with the server's advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Result of the attempt.
    pub status: Status,
    /// Facts about the answer that the rules of a strategy may use, such as the HTTP status code.
    pub facts: Facts,
    /// Classification of the outcome by the strategy. It is set before the parts of the strategy receive the outcome.
    pub classification: Classification,
    /// Advice of the server about retries, parsed by the rules of the strategy's innermost layer.
    pub advice: Advice,
    /// Advice of the server, parsed by the rules of the strategy's outer layers, if the innermost layer has other rules
    /// for advice.
    pub outer_advice: Advice,
    /// Quota of requests that the server states, in a success or a rejection. `None` if no part of the strategy uses quotas.
    pub quota: Option<Quota>,
    /// HTTP method of the request. It is set and used only for clients that send requests with [several
    /// methods](crate::StrategySpec::with_methods).
    pub method: Method,
}

impl Outcome {
    /// Creates the outcome of an attempt from its status, without advice or other facts about the answer.
    pub const fn plain(status: Status) -> Self {
        Self::advised(status, Advice::None)
    }

    /// Creates the outcome of an attempt from its status and the server's advice, without other facts about the answer.
    pub const fn advised(status: Status, advice: Advice) -> Self {
        let (facts, classification, method) = (Facts::NONE, Classification::from_status(status), Method::Get);
        Self { status, facts, classification, advice, outer_advice: Advice::None, quota: None, method }
    }
}
