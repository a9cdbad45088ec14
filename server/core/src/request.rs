//! A request, what it asks for, what becomes of it, and its draws.

use std::time::Duration;

use vocabulary::wire::RunId;
use vocabulary::{Distribution, Purpose, draws, unit};

/// Names a request between its arrival and its answer. Small and dense: the server indexes by it, and the shell
/// uses it again once the request is answered or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// A request that has just been received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its name, free at this moment.
    pub id: RequestId,
    /// What it is counted for, if for anything.
    pub run: Option<Counted>,
    /// The seed that keys its draws.
    pub seed: u64,
    /// The op's number.
    pub op: u64,
    /// Which attempt of the op.
    pub attempt: u32,
    /// What it asks for.
    pub step: Step,
}

/// What a request is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The run.
    pub run: RunId,
    /// Which shard of its clients, if they come in shards. Requests are copied often, and this takes no room of its own.
    pub shard: Option<u16>,
}

impl From<RunId> for Counted {
    fn from(run: RunId) -> Self {
        Self { run, shard: None }
    }
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
    #[inline]
    pub(crate) fn network_delay(&self, network_delay: &Distribution) -> Duration {
        let purpose = if self.is_write() { Purpose::WriteNetwork } else { Purpose::Network };
        self.sample(network_delay, purpose)
    }

    /// How long its answer needs to come back.
    #[inline]
    pub(crate) fn return_delay(&self, return_delay: &Distribution) -> Duration {
        let purpose = if self.is_write() { Purpose::WriteReturn } else { Purpose::NetworkReturn };
        self.sample(return_delay, purpose)
    }

    /// Whether the message that carries it, or its answer, is lost, which happens with this probability.
    pub(crate) fn is_lost(&self, way: Way, loss: f64) -> bool {
        if loss == 0.0 {
            return false;
        }
        let messages_before = 2 * usize::from(self.is_write()) + way as usize;
        let mut rng = draws(self.seed, Purpose::Loss, self.op, self.attempt);
        for _ in 0..messages_before {
            unit(&mut rng);
        }
        unit(&mut rng) < loss
    }

    fn is_write(&self) -> bool {
        matches!(self.step, Step::Write { .. })
    }

    /// A draw that is its own.
    #[inline]
    pub(crate) fn sample(&self, distribution: &Distribution, purpose: Purpose) -> Duration {
        match distribution {
            // Nothing is drawn, so no generator is needed.
            Distribution::Constant(value) => *value,
            random => self.draw(random, purpose),
        }
    }

    #[inline(never)]
    fn draw(&self, distribution: &Distribution, purpose: Purpose) -> Duration {
        distribution.sample(&mut draws(self.seed, purpose, self.op, self.attempt))
    }
}

/// The two ways between client and server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    ToServer,
    ToClient,
}

/// How long the service of an op takes: the same for each of its attempts.
pub(crate) fn service_time(service_time: &Distribution, seed: u64, op: u64) -> Duration {
    match service_time {
        Distribution::Constant(value) => *value,
        random => random.sample(&mut draws(seed, Purpose::ServiceTime, op, 0)),
    }
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
    /// A fault struck before anything was done.
    Failed,
    /// It was to start only if enough was free, and that was not so.
    Deferred,
}
