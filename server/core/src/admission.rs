//! What becomes of a request that has reached the server: one of several policies decides.

use std::time::Duration;

use vocabulary::Instant;

use crate::concurrency_cap::ConcurrencyCap;
use crate::config::Config;
use crate::descriptor_pool::DescriptorPool;
use crate::overwhelmed_queue::OverwhelmedQueue;
use crate::policy::Policy;
use crate::request::{Request, RequestId, Verdict};

/// The policy in force, with everything that it holds.
#[derive(Debug)]
pub(crate) enum Admission {
    Cap(ConcurrencyCap),
    Queue(OverwhelmedQueue),
    Pool(DescriptorPool),
}

/// A request that is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) id: RequestId,
    pub(crate) verdict: Verdict,
    /// How long it held what it held.
    pub(crate) held: Duration,
    /// What was busy until then, its own included.
    pub(crate) busy: u32,
}

/// What is known of a request when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The verdict, though the answer comes later.
    Decided(Verdict),
    /// All: it takes no time.
    Done(Released),
    /// Nothing yet.
    Open,
}

impl Admission {
    /// A policy that holds nothing.
    pub(crate) fn new(policy: &Policy) -> Self {
        match policy {
            Policy::ConcurrencyCap => Self::Cap(ConcurrencyCap::default()),
            Policy::OverwhelmedQueue(config) => Self::Queue(OverwhelmedQueue::new(config.clone())),
            Policy::DescriptorPool(config) => Self::Pool(DescriptorPool::new(config.clone())),
        }
    }

    /// A request reaches the server. With `refusal` it must not be served, for this reason; only a policy that is full
    /// has another.
    pub(crate) fn arrive(
        &mut self,
        at: Instant,
        request: &Request,
        refusal: Option<Verdict>,
        config: &Config,
    ) -> Arrived {
        match (self, refusal) {
            (Self::Cap(cap), refusal) => cap.arrive(at, request, refusal, config),
            (other, Some(verdict)) => {
                let busy = other.busy();
                Arrived::Done(Released { id: request.id, verdict, held: Duration::ZERO, busy })
            }
            (Self::Queue(queue), None) => queue.arrive(at, request),
            (Self::Pool(pool), None) => pool.arrive(at, request),
        }
    }

    /// Takes back what a request holds, if it holds anything.
    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        match self {
            Self::Cap(cap) => cap.cancel(at, id),
            Self::Queue(queue) => queue.cancel(id),
            Self::Pool(pool) => pool.cancel(at, id),
        }
    }

    /// When something happens next.
    pub(crate) fn next(&self) -> Option<Instant> {
        match self {
            Self::Cap(cap) => cap.next(),
            Self::Queue(queue) => queue.next(),
            Self::Pool(pool) => pool.next(),
        }
    }

    /// Does what is due at [`next`](Self::next); at most one request is done with at a time.
    pub(crate) fn advance(&mut self, seed: u64) -> Option<Released> {
        match self {
            Self::Cap(cap) => cap.finish_next(),
            Self::Queue(queue) => queue.advance(seed),
            Self::Pool(pool) => pool.advance(),
        }
    }

    /// What is busy: slots, places, descriptors.
    pub(crate) fn busy(&self) -> u32 {
        match self {
            Self::Cap(cap) => cap.busy(),
            Self::Queue(queue) => queue.outstanding(),
            Self::Pool(pool) => pool.in_use(),
        }
    }

    /// Requests in service.
    pub(crate) fn in_service(&self) -> u32 {
        match self {
            Self::Cap(cap) => cap.in_service(),
            Self::Queue(queue) => queue.admitted(),
            Self::Pool(pool) => pool.connected(),
        }
    }

    /// How much there is of what can be busy at this instant.
    pub(crate) fn capacity(&self, at: Instant, config: &Config) -> u32 {
        match self {
            Self::Cap(_) => config.slots(at),
            Self::Queue(queue) => queue.capacity(),
            Self::Pool(pool) => pool.descriptors(),
        }
    }

    /// What a carrier sense reads at this instant: how much is free.
    pub(crate) fn free(&self, at: Instant, config: &Config) -> u32 {
        match self {
            Self::Queue(queue) => queue.capacity() - queue.admitted(),
            other => other.capacity(at, config).saturating_sub(other.busy()),
        }
    }

    /// Breakdowns since the last call.
    pub(crate) fn take_crashes(&mut self) -> u64 {
        match self {
            Self::Pool(pool) => pool.take_crashes(),
            Self::Cap(_) | Self::Queue(_) => 0,
        }
    }
}
