//! What goes into the server and what comes out.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Instant, LimitsTold};

use crate::answer_facts::AnswerFacts;
use crate::answers::{Outcome, Told};
use crate::config::Config;
use crate::details::Details;
use crate::faults::Fault;
use crate::request::{Request, RequestId, Verdict};
use crate::script::ReplyId;

/// What happens to the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A request was received; the network leg begins.
    Arrive(Request),
    /// The same, but only if so much is free at this very instant (see [`Server::free`](crate::Server::free)): else it is
    /// answered at once with [`Verdict::Deferred`], holds nothing and is counted nowhere.
    ArriveIfFree {
        /// What was received.
        request: Request,
        /// What must be free.
        least: u32,
    },
    /// One of the two above, with what the request says of itself; see [`Server::wants`](crate::Server::wants).
    ArriveWith {
        /// What was received.
        request: Request,
        /// What it says of itself.
        details: Arc<Details>,
        /// What must be free; 0 starts it anyway.
        least: u32,
    },
    /// The client of this request is gone: what it held is free.
    Cancel(RequestId),
    /// From now on behave so. What is in service goes on as it began, unless the policy is another: then whatever is
    /// under way is turned away.
    Configure(Box<Config>),
    /// Count anew. What is under way keeps its slots and gets its answers, but is not counted.
    Reset,
}

/// What the shell is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer this request.
    Answer(Answer),
    /// Come back at this instant, or with an input before.
    WaitUntil(Instant),
    /// Come back with an input.
    Idle,
}

/// An answer that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whose.
    pub id: RequestId,
    /// What it says.
    pub verdict: Verdict,
    /// When a rejection advises to come back, counted from the answer.
    pub advice: Option<Duration>,
    /// When it was due.
    pub at: Instant,
    /// Slots busy until then, its own included.
    pub busy: u32,
    /// The cap just then, if there is one.
    pub cap: Option<u32>,
    /// What a script has for it, instead of the server's own words.
    pub reply: Option<ReplyId>,
    /// The object's version just then, the answer's own write included.
    pub version: u64,
    /// What most answers do not have: in one place, so that these pay for one pointer.
    pub extras: Option<Box<Extras>>,
}

/// What templates and limits tell of an answer, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// What templates may tell of it, and a run is told of limits, where there is any of it.
    pub facts: Option<AnswerFacts>,
    /// What is wrong with it. [`Fault::Hang`] and [`Fault::SlowHeaders`] never are: such an answer is due later.
    pub fault: Option<Fault>,
}

impl Answer {
    /// See [`Extras::facts`].
    pub fn facts(&self) -> Option<&AnswerFacts> {
        self.extras.as_ref()?.facts.as_ref()
    }

    /// Where the limits of a stack stood for the request, as a run is told.
    pub fn limits(&self) -> LimitsTold {
        self.facts().map_or_else(LimitsTold::default, AnswerFacts::limits)
    }

    /// What is wrong with it.
    pub fn fault(&self) -> Option<Fault> {
        self.extras.as_ref()?.fault
    }

    /// Whether a fault makes a failure of it, whatever was done.
    pub fn is_spoiled(&self) -> bool {
        self.fault().is_some_and(|fault| !fault.is_slow())
    }

    /// Whether the client learns that the request was served.
    pub fn tells_service(&self) -> bool {
        self.verdict == Verdict::Accepted && !self.is_spoiled()
    }

    /// What is told by an answer that has facts.
    pub fn told<'a>(&self, facts: &'a AnswerFacts) -> Told<'a> {
        let outcome = match self.verdict {
            Verdict::Accepted => Outcome::Accepted,
            Verdict::Conflict => Outcome::Conflict,
            Verdict::Rejected | Verdict::Deferred | Verdict::Failed => {
                Outcome::Rejected { stage: facts.stage, wait: self.advice }
            }
        };
        let AnswerFacts { decided_at, standings, seed, op, attempt, .. } = facts;
        Told {
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
