//! What goes into the server and what comes out.

use std::time::Duration;

use vocabulary::wire::RunId;
use vocabulary::{Distribution, Instant, Purpose, draws, unit};

use crate::config::Config;

/// Names a request between its arrival and its answer. Small and dense: the server indexes by it, and the shell
/// uses it again once the request is answered or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// A request that has just been received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its name, free at this moment.
    pub id: RequestId,
    /// The run it is counted for, if any.
    pub run: Option<RunId>,
    /// The seed that keys its draws.
    pub seed: u64,
    /// The op's number.
    pub op: u64,
    /// Which attempt of the op.
    pub attempt: u32,
    /// What it asks for.
    pub step: Step,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// The work itself.
    #[default]
    Work,
    /// The state of the object, before a conditional write. Counted as a read, not as received.
    Read,
    /// A write that counts only if the object is still at this version.
    Write {
        /// The version that was read.
        if_match: u64,
    },
}

impl Request {
    /// How long it needs to reach admission.
    pub(crate) fn network_delay(&self, config: &Config) -> Duration {
        let purpose = if self.is_write() { Purpose::WriteNetwork } else { Purpose::Network };
        self.sample(&config.network_delay, purpose)
    }

    /// How long its answer needs to come back.
    pub(crate) fn return_delay(&self, config: &Config) -> Duration {
        let purpose = if self.is_write() { Purpose::WriteReturn } else { Purpose::NetworkReturn };
        self.sample(&config.return_delay, purpose)
    }

    /// Whether the message that carries it, or its answer, is lost.
    pub(crate) fn is_lost(&self, way: Way, config: &Config) -> bool {
        if config.loss == 0.0 {
            return false;
        }
        let messages_before = 2 * usize::from(self.is_write()) + way as usize;
        let mut rng = draws(self.seed, Purpose::Loss, self.op, self.attempt);
        for _ in 0..messages_before {
            unit(&mut rng);
        }
        unit(&mut rng) < config.loss
    }

    /// How long its rejection takes.
    pub(crate) fn reject_time(&self, config: &Config) -> Duration {
        self.sample(&config.reject_time, Purpose::RejectTime)
    }

    /// How long its service takes: the same for every attempt of an op.
    pub(crate) fn service_time(&self, config: &Config) -> Duration {
        service_time(config, self.seed, self.op)
    }

    fn is_write(&self) -> bool {
        matches!(self.step, Step::Write { .. })
    }

    fn sample(&self, distribution: &Distribution, purpose: Purpose) -> Duration {
        match distribution {
            // Nothing is drawn, so no generator is needed.
            Distribution::Constant(value) => *value,
            random => random.sample(&mut draws(self.seed, purpose, self.op, self.attempt)),
        }
    }
}

/// The two ways between client and server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    ToServer,
    ToClient,
}

/// How long the service of an op takes.
pub(crate) fn service_time(config: &Config, seed: u64, op: u64) -> Duration {
    match config.service_time {
        Distribution::Constant(value) => value,
        random => random.sample(&mut draws(seed, Purpose::ServiceTime, op, 0)),
    }
}

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
    /// The client of this request is gone: what it held is free.
    Cancel(RequestId),
    /// From now on behave so. What is in service goes on as it began, unless the policy is another: then whatever is
    /// under way is turned away.
    Configure(Box<Config>),
    /// Count anew. What is under way keeps its slots and gets its answers, but is not counted.
    Reset,
}

/// What the shell is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer this request.
    Answer(Answer),
    /// Come back at this instant, or with an input before.
    WaitUntil(Instant),
    /// Come back with an input.
    Idle,
}

/// An answer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whose.
    pub id: RequestId,
    /// What it says.
    pub verdict: Verdict,
    /// When it was due.
    pub at: Instant,
    /// Slots busy until then, its own included.
    pub busy: u32,
    /// The cap just then.
    pub cap: u32,
    /// The object's version just then, the answer's own write included.
    pub version: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was served.
    Accepted,
    /// It was turned away.
    Rejected,
    /// A conditional write came too late: the object has another version by now.
    Conflict,
    /// It was to start only if enough was free, and that was not so.
    Deferred,
}
