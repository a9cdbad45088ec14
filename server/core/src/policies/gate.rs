//! A stage of a stack in force: it lets a request go on, holds it up, or turns it away.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::capacity::Capacity;
use crate::policies::key::Key;
use crate::request::Request;
use crate::service::ServiceModel;
use crate::standing::Standing;

/// A stage in force, with what it remembers of every key. Instants never go back.
///
/// A request meets [`ask`](Self::ask) once. If it passes, at once or after a wait, [`take`](Self::take) follows, when it comes or when it is
/// answered; who goes on from a queue is charged already. And [`ended`](Self::ended) follows when it is answered or its client is gone,
/// whatever became of it further on.
pub(crate) trait Gate: Any + fmt::Debug + Send {
    /// From this instant on it goes by the figures of another of its kind, of which nobody holds anything; what it remembers stays.
    /// Whoever need not wait any more in its queue is [called](Self::call).
    fn tune(&mut self, at: Instant, other: Box<dyn Gate>, service: &ServiceModel);

    /// There may be more places than before: whoever waits for one gets it.
    fn call(&mut self, _at: Instant, _service: &ServiceModel) {}

    /// Whether it has a queue, or somebody still waits in one that it had. Only [`tune`](Self::tune) changes it.
    fn has_queue(&self) -> bool {
        false
    }

    /// Whether somebody waits in its queue.
    fn is_awaited(&self) -> bool {
        false
    }

    /// What becomes of a request. Only what time changes is changed, who waits in a queue, and what is held against those who come too
    /// early.
    fn ask(&mut self, at: Instant, asked: &Asked<'_>, service: &ServiceModel) -> Ruling;

    /// It is charged.
    fn take(&mut self, at: Instant, asked: &Asked<'_>);

    /// So much of what was taken at an instant comes back.
    fn give_back(&mut self, at: Instant, asked: &Asked<'_>, taken: Taken);

    /// A request holds none of its places any more. Called only where [places are held](Self::holds_places).
    fn ended(&mut self, _at: Instant, _asked: &Asked<'_>, _service: &ServiceModel) {}

    /// A later stage, or what serves, turned it away, to be told this wait. What is told in the end, never less.
    fn overhear(&mut self, _at: Instant, _asked: &Asked<'_>, wait: Option<Duration>) -> Option<Duration> {
        wait
    }

    /// Who waits in its queue is gone.
    fn withdraw(&mut self, _at: Instant, _asked: &Asked<'_>, _service: &ServiceModel) {}

    /// When somebody in its queue goes on or is turned away, if anybody waits.
    fn next(&self) -> Option<Instant> {
        None
    }

    /// Who need not wait any more at this instant.
    fn advance(&mut self, _at: Instant, _service: &ServiceModel) -> Option<Waited> {
        None
    }

    /// How many times as long a service takes that begins while so many others are served, in thousandths.
    fn stretch(&self, _in_service: u32) -> u64 {
        1000
    }

    /// Whether it counts what is in service, so that rejections may hold places, too.
    fn holds_places(&self) -> bool {
        false
    }

    /// Of the parameters that every stage has, those that mean nothing to it, and why.
    fn meaningless(&self) -> Option<(&'static [&'static str], &'static str)> {
        None
    }

    /// How many places there are for each key.
    fn capacity(&self) -> Capacity {
        Capacity::Unbounded
    }

    /// Where the limit stands for a key; `None` where there is none.
    fn standing(&mut self, at: Instant, key: Key, service: &ServiceModel) -> Option<Standing>;

    /// Keys that were forgotten for the sake of others.
    fn evicted(&self) -> u64 {
        0
    }
}

/// A request as one stage sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    /// For whom it is counted.
    pub(crate) key: Key,
    /// What it costs.
    pub(crate) cost: u32,
}

/// What was taken of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) at: Instant,
    pub(crate) cost: u32,
}

/// What a stage says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It may go on.
    Pass,
    /// It may go on after this time; it is charged at once.
    PassAfter(Duration),
    /// It waits in the stage's queue.
    Queue,
    /// It is turned away. It would pass after so much time, if nothing else passed until then; to the nanosecond, rounded up (where the real
    /// server tells another time, that one). `None`: never, or nobody knows when.
    Reject(Option<Duration>),
}

/// Somebody who waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) id: crate::request::RequestId,
    /// Whether it goes on; else it is turned away.
    pub(crate) passes: bool,
}

/// What means nothing where places are held, see [`Gate::meaningless`].
pub(crate) const PLACES_CHARGE_NOTHING: (&[&str], &str) =
    (&["refund", "own", "later", "charged"], "places are taken when a request comes and free when it ends");

/// A stage as what it is, if it is of that kind.
pub(crate) fn as_kind<G: Gate>(gate: Box<dyn Gate>) -> Option<G> {
    let gate: Box<dyn Any> = gate;
    gate.downcast().ok().map(|gate| *gate)
}

/// So many nanoseconds; what is beyond 584 years is that.
pub(crate) fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// A rejection for so many nanoseconds; what is beyond 584 years is never.
pub(crate) fn after(nanos: u128) -> Ruling {
    Ruling::Reject(u64::try_from(nanos).ok().map(Duration::from_nanos))
}
