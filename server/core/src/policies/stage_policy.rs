//! Interface of a stage of the policy stack. A stage admits, delays or rejects each request.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::{Capacity, Key};
use crate::{LimitStatus, Request, ServiceModel};

/// Stage of the current policy stack, with its state for every key. The instants passed to its methods never decrease.
///
/// For each request, [`ask`](Self::ask) is called first. It is called a second time if the stage charges a request that it rejects.
/// [`charge`](Self::charge) charges a request that passes, at once or after a delay. The charge is made at the arrival of the request or at
/// its response. It is not made for a request that leaves the queue, because the queue has already charged the request.
/// [`ended`](Self::ended) is called at the response, or when the client has disconnected. It is called whatever later stages decided.
pub(crate) trait StagePolicy: Any + fmt::Debug + Send {
    /// Switches this stage to the configuration of `other`, a stage of the same kind that has no state yet. This stage keeps its own state.
    /// Queued requests that need not wait any longer are [admitted](Self::call).
    fn reconfigure(&mut self, at: Instant, other: Box<dyn StagePolicy>, service: &ServiceModel);

    /// Admits queued requests, if the stage has room for them. The stack calls this method after the number of places may have increased.
    fn call(&mut self, _at: Instant, _service: &ServiceModel) {}

    /// Whether the stage has a queue, or still contains requests of a queue that it had before. The stack calls this method only when the
    /// stack is created and after [`reconfigure`](Self::reconfigure).
    fn has_queue(&self) -> bool {
        false
    }

    fn is_awaited(&self) -> bool {
        false
    }

    /// Decides on a request without charging it. Changes only the state that depends on time, the queue, and the penalties for early
    /// requests.
    fn ask(&mut self, at: Instant, asked: &StageRequest<'_>, service: &ServiceModel) -> Decision;

    /// Charges a request. Does nothing by default, because a stage without a budget charges nothing.
    fn charge(&mut self, _at: Instant, _asked: &StageRequest<'_>) {}

    /// Refunds a charge. Does nothing by default: a place, for example, becomes free only when its request has [ended](Self::ended).
    fn refund(&mut self, _at: Instant, _asked: &StageRequest<'_>, _taken: Charge) {}

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

    /// Returns the factor, in thousandths, by which the stage multiplies the time of a service. `in_service` is the number of other
    /// requests in service when the service begins.
    fn stretch(&self, _in_service: u32) -> u64 {
        1000
    }

    /// Whether the stage limits the number of requests in service. If it does, rejected requests may hold places of the stage, too: with
    /// the setting `rejects_occupy`, a rejected request counts as busy for its reject time, as a served one does for its service time.
    fn holds_slots(&self) -> bool {
        false
    }

    /// Returns the common parameters that have no effect on this stage, with the reason.
    fn meaningless(&self) -> Option<Meaningless> {
        None
    }

    /// Returns the maximum number of requests that the stage lets be in service at the same time.
    fn capacity(&self) -> Capacity {
        Capacity::Unbounded
    }

    /// Returns the status of the limit for a key. `None` if the stage has no limit.
    fn limit_status(&mut self, _at: Instant, _key: Key, _service: &ServiceModel) -> Option<LimitStatus> {
        None
    }

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
    /// The request is rejected. The value is the time after which the request would pass if no other request passed in the meantime. This
    /// time is exact to the nanosecond and rounded up. If the modelled real server reports a different time, the value is the reported
    /// time. `None` if the request never passes or the time is unknown.
    Reject(Option<Duration>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) id: crate::request::RequestId,
    /// True if the request passes after its wait, false if it is rejected.
    pub(crate) passes: bool,
}

/// Keys of common parameters that have no effect on a stage, and the reason.
pub(crate) struct Meaningless {
    pub(crate) keys: &'static [&'static str],
    pub(crate) why: &'static str,
}

pub(crate) const PLACES_CHARGE_NOTHING: Meaningless = Meaningless {
    keys: &["refund", "own", "later", "charged"],
    why: "a request holds its slot from its arrival to its end",
};

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
