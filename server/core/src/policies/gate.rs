//! A stage of a stack: it admits a request, delays it or rejects it.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::capacity::Capacity;
use crate::policies::key::Key;
use crate::request::Request;
use crate::service::ServiceModel;
use crate::standing::Standing;

/// A stage in force, with its state of every key. Instants never go back.
///
/// For each request [`ask`](Self::ask) is called once. If the request passes, at once or after a wait, [`take`](Self::take) follows: at the
/// arrival or at the response. A request that leaves the queue is already charged. [`ended`](Self::ended) follows at the response or when
/// the client is gone, whatever later stages decided.
pub(crate) trait Gate: Any + fmt::Debug + Send {
    /// Switches to the configuration of `other`, a stage of the same kind without state; the own state is kept. Requests that need not wait
    /// any more in the queue are [admitted](Self::call).
    fn tune(&mut self, at: Instant, other: Box<dyn Gate>, service: &ServiceModel);

    /// Admits queued requests, after the number of places may have increased.
    fn call(&mut self, _at: Instant, _service: &ServiceModel) {}

    /// Whether the stage has a queue, or requests are left in one that it had. Only [`tune`](Self::tune) changes this.
    fn has_queue(&self) -> bool {
        false
    }

    fn is_awaited(&self) -> bool {
        false
    }

    /// Decides about a request. Changes only the state that depends on time, the queue, and the penalties for early requests.
    fn ask(&mut self, at: Instant, asked: &Asked<'_>, service: &ServiceModel) -> Decision;

    fn take(&mut self, at: Instant, asked: &Asked<'_>);

    fn give_back(&mut self, at: Instant, asked: &Asked<'_>, taken: Taken);

    /// Frees the places of a request. Called only if the stage [holds places](Self::holds_places).
    fn ended(&mut self, _at: Instant, _asked: &Asked<'_>, _service: &ServiceModel) {}

    /// Observes that a later stage or the server rejected a request, with this wait. Returns the wait to advertise, which is never shorter.
    fn overhear(&mut self, _at: Instant, _asked: &Asked<'_>, wait: Option<Duration>) -> Option<Duration> {
        wait
    }

    fn withdraw(&mut self, _at: Instant, _asked: &Asked<'_>, _service: &ServiceModel) {}

    /// Returns when the next queued request is admitted or rejected, if any is queued.
    fn next(&self) -> Option<Instant> {
        None
    }

    /// Removes and returns a request whose wait in the queue is over at this instant.
    fn advance(&mut self, _at: Instant, _service: &ServiceModel) -> Option<Waited> {
        None
    }

    /// Returns the factor on the time of a service that begins while `in_service` others are in service, in thousandths.
    fn stretch(&self, _in_service: u32) -> u64 {
        1000
    }

    /// Whether the stage counts requests in service, so that rejections may hold places, too.
    fn holds_places(&self) -> bool {
        false
    }

    /// Returns the common parameters that have no effect on this stage, and the reason.
    fn meaningless(&self) -> Option<(&'static [&'static str], &'static str)> {
        None
    }

    fn capacity(&self) -> Capacity {
        Capacity::Unbounded
    }

    /// Returns the state of a key's limit; `None` for a stage without a limit.
    fn standing(&mut self, at: Instant, key: Key, service: &ServiceModel) -> Option<Standing>;

    fn evicted(&self) -> u64 {
        0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) key: Key,
    pub(crate) cost: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) at: Instant,
    pub(crate) cost: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Pass,
    /// The request goes on after this time, and is charged at once.
    PassAfter(Duration),
    Queue,
    /// The request is rejected. It would pass after this time if nothing else passed until then: exact to the nanosecond, rounded up. If
    /// the real server reports another time, it is that one. `None` if the request never passes or the time is unknown.
    Reject(Option<Duration>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) id: crate::request::RequestId,
    /// True if the request goes on, false if it is rejected.
    pub(crate) passes: bool,
}

pub(crate) const PLACES_CHARGE_NOTHING: (&[&str], &str) =
    (&["refund", "own", "later", "charged"], "places are taken when a request comes and free when it ends");

pub(crate) fn as_kind<G: Gate>(gate: Box<dyn Gate>) -> Option<G> {
    let gate: Box<dyn Any> = gate;
    gate.downcast().ok().map(|gate| *gate)
}

/// Converts nanoseconds, capped at the largest count in 64 bits (584 years).
pub(crate) fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Rejects for this many nanoseconds; beyond 584 years that counts as never.
pub(crate) fn after(nanos: u128) -> Decision {
    Decision::Reject(u64::try_from(nanos).ok().map(Duration::from_nanos))
}
