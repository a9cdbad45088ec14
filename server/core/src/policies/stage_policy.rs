//! Interface of a stage of the policy stack. A stage admits, delays or rejects each request.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::limit_status::LimitStatus;
use crate::policies::capacity::Capacity;
use crate::policies::key::Key;
use crate::request::Request;
use crate::service::ServiceModel;

/// Stage of the current policy stack, with its state for every key. The instants passed to its methods never decrease.
///
/// [`ask`](Self::ask) is called once for each request, and again if a rejected request is charged. If the request passes, at once or after
/// a delay, [`charge`](Self::charge) charges it, at its arrival or at its response. A request that leaves the queue is already charged.
/// [`ended`](Self::ended) follows at the response, or when the client has disconnected, whatever later stages decided.
pub(crate) trait StagePolicy: Any + fmt::Debug + Send {
    /// Switches to the configuration of `other`, a stage of the same kind without state. The current state of this stage is kept. Queued
    /// requests that need not wait any longer are [admitted](Self::call).
    fn reconfigure(&mut self, at: Instant, other: Box<dyn StagePolicy>, service: &ServiceModel);

    /// Admits queued requests, if the stage has room for them. The stack calls this method after the number of places may have increased.
    fn call(&mut self, _at: Instant, _service: &ServiceModel) {}

    /// Whether the stage has a queue, or requests are left in a queue that the stage had before. The stack reads this only at its creation
    /// and after [`reconfigure`](Self::reconfigure).
    fn has_queue(&self) -> bool {
        false
    }

    fn is_awaited(&self) -> bool {
        false
    }

    /// Decides on a request without charging it. Changes only the state that depends on time, the queue, and the penalties for early
    /// requests.
    fn ask(&mut self, at: Instant, asked: &StageRequest<'_>, service: &ServiceModel) -> Decision;

    fn charge(&mut self, at: Instant, asked: &StageRequest<'_>);

    fn refund(&mut self, at: Instant, asked: &StageRequest<'_>, taken: Charge);

    /// Frees the places that a request holds. The stack calls this method only if the stage [holds places](Self::holds_slots).
    fn ended(&mut self, _at: Instant, _asked: &StageRequest<'_>, _service: &ServiceModel) {}

    /// Notifies the stage that a later stage or the server rejected a request and advises `wait`. Returns the wait to advertise, which is
    /// never shorter than `wait`.
    fn on_later_rejection(
        &mut self,
        _at: Instant,
        _asked: &StageRequest<'_>,
        wait: Option<Duration>,
    ) -> Option<Duration> {
        wait
    }

    fn withdraw(&mut self, _at: Instant, _asked: &StageRequest<'_>, _service: &ServiceModel) {}

    /// Returns the instant at which the next queued request is admitted or rejected. `None` if no request is queued.
    fn next(&self) -> Option<Instant> {
        None
    }

    /// Removes and returns a queued request whose wait in the queue ends at this instant.
    fn advance(&mut self, _at: Instant, _service: &ServiceModel) -> Option<Waited> {
        None
    }

    /// Returns the factor, in thousandths, that multiplies the time of a service which begins while `in_service` other requests are in
    /// service.
    fn stretch(&self, _in_service: u32) -> u64 {
        1000
    }

    /// Whether the stage limits the number of requests in service. If so, rejections may hold places, too.
    fn holds_slots(&self) -> bool {
        false
    }

    /// Returns the common parameters that have no effect on this stage, with the reason.
    fn meaningless(&self) -> Option<(&'static [&'static str], &'static str)> {
        None
    }

    fn capacity(&self) -> Capacity {
        Capacity::Unbounded
    }

    /// Returns the status of the limit for a key. `None` if the stage has no limit.
    fn limit_status(&mut self, at: Instant, key: Key, service: &ServiceModel) -> Option<LimitStatus>;

    fn evicted(&self) -> u64 {
        0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StageRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) key: Key,
    pub(crate) cost: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) at: Instant,
    pub(crate) cost: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Pass,
    /// The request is charged at once, and passes after this delay.
    PassAfter(Duration),
    Queue,
    /// The request is rejected. The value is the wait after which the request would pass if nothing else passed until then. The wait is
    /// exact to the nanosecond and rounded up. If the real server reports another wait, the value is the reported one. `None` if the
    /// request never passes or the wait is unknown.
    Reject(Option<Duration>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) id: crate::request::RequestId,
    /// True if the request passes after its wait, false if it is rejected.
    pub(crate) passes: bool,
}

pub(crate) const PLACES_CHARGE_NOTHING: (&[&str], &str) =
    (&["refund", "own", "later", "charged"], "a request holds its slot from its arrival to its end");

pub(crate) fn downcast<G: StagePolicy>(gate: Box<dyn StagePolicy>) -> Option<G> {
    let gate: Box<dyn Any> = gate;
    gate.downcast().ok().map(|gate| *gate)
}

/// Converts nanoseconds to a duration. The result is at most the number of nanoseconds that fits into 64 bits (584 years).
pub(crate) fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Returns a rejection with a wait of `nanos` nanoseconds. A wait beyond 584 years means that the request never passes.
pub(crate) fn after(nanos: u128) -> Decision {
    Decision::Reject(u64::try_from(nanos).ok().map(Duration::from_nanos))
}
