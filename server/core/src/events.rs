//! Inputs and outputs of the server's state machine, such as the arrival of a request and its answer.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::Instant;
use wire::AdvertisedLimits;

use crate::{
    AnswerFacts, Config, Fault, Outcome, ReplyId, Request, RequestFields, RequestId, ResponseContext,
    ServerDecision,
};

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The shell (the HTTP server or the simulator) received a request. The request's network delay begins.
    Arrive {
        request: Request,
        /// Amount of capacity that must be [free](crate::Server::free) for the request to start; 0 means that it always starts. Depending
        /// on the policy, the capacity consists of slots, queue places or file descriptors. If less is free, the request is answered at
        /// once with [`ServerDecision::Deferred`]. Such a request holds no resources and is not counted.
        least: u32,
        /// HTTP properties of the request that the server [uses](crate::Server::wants), if it uses any.
        details: Option<Arc<RequestFields>>,
    },
    /// The client of this request has disconnected. The slot of the request is freed.
    Cancel(RequestId),
    /// Replaces the configuration of the server. Requests in service continue unchanged if the new configuration has the same answers, and
    /// if its policies differ at most in the values of their parameters. With any other change, all requests in service or in queues are
    /// rejected.
    Configure(Box<Config>),
    /// Resets all counts. Requests in flight keep their slots and are answered, but not counted.
    Reset,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    Answer(Answer),
    /// No output is due yet. The shell should call the state machine again at this instant. If an input arrives earlier, the shell should
    /// call it at that time.
    WaitUntil(Instant),
    Idle,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub id: RequestId,
    pub verdict: ServerDecision,
    /// Wait that a rejection advises, counted from the instant of the answer.
    pub advice: Option<Duration>,
    /// Instant at which the answer was due.
    pub at: Instant,
    /// Number of busy slots just before the answer, including the request's own slot.
    pub busy: u32,
    pub cap: Option<u32>,
    pub reply: Option<ReplyId>,
    /// Version of the object at the instant of the answer, after the request's own write.
    pub version: u64,
    /// Optional parts that only a few answers have. They are stored in a separate `Box`, so that an answer without them stays small.
    pub extras: Option<Box<Extras>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    pub facts: Option<AnswerFacts>,
    /// Injected fault that applies to the answer. It is never [`Fault::SlowHeaders`], which only delays the answer, and never
    /// [`Fault::Hang`], which is replaced by a delayed [`Fault::Close`].
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

    /// Returns the body of the answer if neither a template nor a script replaces it.
    pub fn text(&self) -> &'static str {
        match (self.fault(), self.verdict) {
            (Some(Fault::Status(_)), _) => "failed\n",
            // Every other fault breaks the answer of a failed request, so its body is never complete.
            (_, ServerDecision::Accepted | ServerDecision::Failed) => "served\n",
            (_, ServerDecision::Conflict) => "another client wrote after your read\n",
            (_, ServerDecision::Rejected) => "busy\n",
            (_, ServerDecision::Deferred) => {
                "not started: the server has less free capacity than the attempt requires\n"
            }
        }
    }

    pub fn is_spoiled(&self) -> bool {
        self.fault().is_some_and(|fault| !fault.is_slow())
    }

    /// Whether the answer shows the client that its request was served.
    pub fn advertises_service(&self) -> bool {
        self.verdict == ServerDecision::Accepted && !self.is_spoiled()
    }

    pub fn response_context<'a>(&self, facts: &'a AnswerFacts) -> ResponseContext<'a> {
        let outcome = match self.verdict {
            ServerDecision::Accepted => Outcome::Accepted,
            ServerDecision::Conflict => Outcome::Conflict,
            ServerDecision::Rejected | ServerDecision::Failed | ServerDecision::Deferred => {
                Outcome::Rejected { stage: facts.stage, wait: self.advice }
            }
        };
        let AnswerFacts { decided_at, limit_statuses, seed, op, attempt, .. } = facts;
        ResponseContext {
            outcome,
            now: self.at,
            decided_at: *decided_at,
            limit_statuses,
            seed: *seed,
            op: *op,
            attempt: *attempt,
        }
    }
}
