//! What the parts of a strategy are told about attempts: how they start, how they end.

use crate::{Advice, Facts, Instant, Method, Opinion, Status};

/// An attempt about to start, or the op that would start next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The attempt's number within its client, counted from 0 in order of sending. Clients that share one strategy
    /// count together, and so are in flight and ready together.
    pub seq: u64,
    /// The op's number within the run, from 0.
    pub op: u64,
    /// Which attempt of the op this is, from 1; sheds do not count.
    pub attempt: u32,
    /// When the op arrived.
    pub arrived: Instant,
    /// How the op's last try ended; `None` before the first.
    pub last: Option<Status>,
    /// What the strategy makes of its last attempt, sheds and deferrals aside; of an op without a failed attempt,
    /// [`Opinion::Done`].
    pub last_opinion: Opinion,
    /// Which copy it is of the attempt that its round began with, from 1; 0 for that attempt itself, and so for every
    /// attempt of a strategy that does not hedge. Everything else but `seq` and `attempt` is as it was for that attempt.
    pub copy: u32,
}

/// An attempt that has just ended, seen before it is removed from what is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The attempt's number within its client. "Was in flight at the last cut" is `seq < next seq at the cut`.
    pub seq: u64,
    /// The op's number within the run.
    pub op: u64,
    /// Which attempt of the op this was, from 1.
    pub attempt: u32,
    /// When it was sent.
    pub sent_at: Instant,
    /// Attempts of this client in flight just after it was sent, itself included.
    pub in_flight_when_sent: u32,
    /// Attempts of this client in flight now, itself included.
    pub in_flight: u32,
    /// Ops of this client that are ready and wait for the limiter; 0 means the client is app-limited.
    pub ready: u64,
    /// Whether others of its round are under way, or one of them has decided what becomes of the op: unless it succeeded, the
    /// op's try does not end with this attempt. Without hedging, never.
    pub goes_on: bool,
}

/// How an attempt ended, and what the server advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended, as everybody counts it.
    pub status: Status,
    /// What came on the wire, as far as strategies ask for it.
    pub facts: Facts,
    /// What the strategy makes of it; the strategy sets it before its parts hear of the outcome.
    pub opinion: Opinion,
    /// What the server said about trying again, as the inner layer of a strategy reads it.
    pub advice: Advice,
    /// The same, as layers around it read it that read it in another way.
    pub outer_advice: Advice,
    /// Of requests of this method; told and asked for only where those of a client have [several](crate::StrategySpec::with_methods).
    pub method: Method,
}

impl Outcome {
    /// An outcome without advice, of which nothing else is known.
    pub const fn plain(status: Status) -> Self {
        Self::advised(status, Advice::None)
    }

    /// An outcome with advice, of which nothing else is known.
    pub const fn advised(status: Status, advice: Advice) -> Self {
        let (facts, opinion, method) = (Facts::NONE, Opinion::of(status), Method::Get);
        Self { status, facts, opinion, advice, outer_advice: Advice::None, method }
    }
}
