//! Request to the modelled server: its identity, its random draws, and the server's decision on it.

use std::time::Duration;

use vocabulary::{Distribution, Purpose, draws, unit};
use wire::RunId;

/// Number that identifies a request between its arrival and its answer. Ids are small numbers with few gaps, because the server uses them
/// as indices. The shell reuses an id once its request is answered or cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// Stores a value in a list by index, such as a request's id. The list grows as needed.
#[inline]
pub(crate) fn store<T: Clone>(list: &mut Vec<Option<T>>, index: usize, value: Option<T>) {
    if list.len() <= index {
        list.resize(index + 1, None);
    }
    list[index] = value;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub id: RequestId,
    pub run: Option<RunId>,
    pub seed: u64,
    pub op: u64,
    /// Number of the attempt within its op, from 1.
    pub attempt: u32,
    pub step: Step,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    #[default]
    Work,
    /// First half of a conditional write: reads the state of the object. It is counted among the reads, and not among the received
    /// requests.
    Read,
    Write {
        if_match: u64,
    },
}

impl Request {
    #[inline]
    pub(crate) fn network_delay(&self, network_delay: &Distribution) -> Duration {
        let purpose = if self.is_write() { Purpose::WriteNetwork } else { Purpose::Network };
        self.sample(network_delay, purpose)
    }

    #[inline]
    pub(crate) fn return_delay(&self, return_delay: &Distribution) -> Duration {
        let purpose = if self.is_write() { Purpose::WriteReturn } else { Purpose::NetworkReturn };
        self.sample(return_delay, purpose)
    }

    /// Whether the network loses a message, with the probability `loss`. `way` determines the message: the request itself, or its answer on
    /// the way to the client.
    pub(crate) fn is_lost(&self, way: NetworkLeg, loss: f64) -> bool {
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

    /// Draws a number from 0 to 1 for this request. An attempt of a conditional write consists of two requests: a read and a write. The
    /// write skips one draw, because the read of the same attempt has used it.
    pub(crate) fn drawn(&self, purpose: Purpose) -> f64 {
        let mut rng = draws(self.seed, purpose, self.op, self.attempt);
        if self.is_write() {
            unit(&mut rng);
        }
        unit(&mut rng)
    }

    fn is_write(&self) -> bool {
        matches!(self.step, Step::Write { .. })
    }

    #[inline]
    pub(crate) fn sample(&self, distribution: &Distribution, purpose: Purpose) -> Duration {
        match distribution {
            // Fast path: a constant duration needs no random generator.
            Distribution::Constant(value) => *value,
            random => self.draw(random, purpose),
        }
    }

    #[inline(never)]
    fn draw(&self, distribution: &Distribution, purpose: Purpose) -> Duration {
        distribution.sample(&mut draws(self.seed, purpose, self.op, self.attempt))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NetworkLeg {
    ToServer,
    ToClient,
}

/// Returns the service time of an op. All attempts of the op have the same service time.
pub(crate) fn service_time(service_time: &Distribution, seed: u64, op: u64) -> Duration {
    match service_time {
        Distribution::Constant(value) => *value,
        random => random.sample(&mut draws(seed, Purpose::ServiceTime, op, 0)),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerDecision {
    Accepted,
    Rejected,
    /// A conditional write is rejected, because the object's version has changed since the read.
    Conflict,
    /// An injected fault ended the request before any work was done.
    Failed,
    /// The client demanded a certain free capacity for the start of the request, and too little capacity was free.
    #[default]
    Deferred,
}
