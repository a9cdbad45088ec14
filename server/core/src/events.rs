//! Inputs and outputs of the server's state machine.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::{AdvertisedLimits, Instant};

use crate::answer_facts::AnswerFacts;
use crate::answers::{Outcome, ResponseContext};
use crate::config::Config;
use crate::details::Details;
use crate::faults::Fault;
use crate::request::{Request, RequestId, Verdict};
use crate::script::ReplyId;

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A request was received; the network leg begins.
    Arrive(Request),
    /// Like `Arrive`, but only if at least `least` is free at this instant (see [`Server::free`](crate::Server::free)). Otherwise it is
    /// answered at once with [`Verdict::Deferred`], holds nothing and is counted nowhere.
    ArriveIfFree { request: Request, least: u32 },
    /// Like `Arrive` or `ArriveIfFree`, with HTTP properties of the request; see [`Server::wants`](crate::Server::wants).
    ArriveWith {
        request: Request,
        details: Arc<Details>,
        /// Amount that must be free; 0 for an unconditional start.
        least: u32,
    },
    /// The client of this request is gone. Its slot is freed.
    Cancel(RequestId),
    /// Replaces the configuration. If policies differ only in figures and answers do not differ, requests in service continue unchanged.
    /// Otherwise all requests in service or in queues are rejected.
    Configure(Box<Config>),
    /// Resets all counts. Requests in flight keep their slots and are answered, but not counted.
    Reset,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    Answer(Answer),
    /// Call again at this instant, or earlier with an input.
    WaitUntil(Instant),
    Idle,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub id: RequestId,
    pub verdict: Verdict,
    /// Wait that a rejection advises, counted from the answer.
    pub advice: Option<Duration>,
    /// Instant at which the answer was due.
    pub at: Instant,
    /// Number of busy slots until then, including the request's own.
    pub busy: u32,
    pub cap: Option<u32>,
    pub reply: Option<ReplyId>,
    /// Version of the object at that instant, including the request's own write.
    pub version: u64,
    /// Rare parts of an answer, boxed together so that other answers pay for only one pointer.
    pub extras: Option<Box<Extras>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    pub facts: Option<AnswerFacts>,
    /// Fault of the answer. [`Fault::Hang`] and [`Fault::SlowHeaders`] do not occur here, because they only delay the answer.
    pub fault: Option<Fault>,
}

impl Answer {
    pub fn facts(&self) -> Option<&AnswerFacts> {
        self.extras.as_ref()?.facts.as_ref()
    }

    pub fn limits(&self) -> AdvertisedLimits {
        self.facts().map_or_else(AdvertisedLimits::default, AnswerFacts::limits)
    }

    pub fn fault(&self) -> Option<Fault> {
        self.extras.as_ref()?.fault
    }

    pub fn is_spoiled(&self) -> bool {
        self.fault().is_some_and(|fault| !fault.is_slow())
    }

    /// Whether the client learns that the request was served.
    pub fn tells_service(&self) -> bool {
        self.verdict == Verdict::Accepted && !self.is_spoiled()
    }

    pub fn response_context<'a>(&self, facts: &'a AnswerFacts) -> ResponseContext<'a> {
        let outcome = match self.verdict {
            Verdict::Accepted => Outcome::Accepted,
            Verdict::Conflict => Outcome::Conflict,
            Verdict::Rejected | Verdict::Deferred | Verdict::Failed => {
                Outcome::Rejected { stage: facts.stage, wait: self.advice }
            }
        };
        let AnswerFacts { decided_at, standings, seed, op, attempt, .. } = facts;
        ResponseContext {
            outcome,
            now: self.at,
            decided_at: *decided_at,
            standings,
            seed: *seed,
            op: *op,
            attempt: *attempt,
        }
    }
}
