//! A policy's configuration, which is also the factory of its state.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::pace::Pace;
use crate::policies::admission::Admission;
use crate::policies::common::Common;
use crate::policies::gate::Gate;
use crate::policies::limit::Limit;
use crate::rate_law::RateLaw;
use crate::script::Script;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    Slots,
    Own(u32),
}

/// Factory of a policy, and the properties that other parts of the server need. Parameters, summary, rule and source are in
/// [`Configurable`](vocabulary::Configurable).
pub(crate) trait PolicyConfig: fmt::Debug + Send + Sync {
    /// Returns the policy as the part that serves requests, in its initial state; `None` if it only lets requests pass.
    fn build(&self) -> Option<Box<dyn Admission>> {
        None
    }

    /// Returns the policy as a stage in front of the serving part; `None` if it cannot be a stage.
    fn gate(&self, _common: &Common) -> Option<Box<dyn Gate>> {
        None
    }

    /// Returns a bound on how soon requests of cost 1 pass, whatever the clients do; `None` if no bound is proven.
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// Returns the rate that a single client gets; `None` if the policy is not about rates.
    fn rate_law(&self) -> Option<RateLaw> {
        None
    }

    fn limit(&self) -> Option<Limit> {
        None
    }

    fn grows(&self) -> bool {
        false
    }

    fn limits_nothing(&self) -> bool {
        false
    }

    /// Whether the policy uses the server's own cap, `max_busy` or `caps`. Only such a cap can be changed during a run.
    fn has_cap(&self) -> bool {
        false
    }

    /// Returns the maximum number of requests in service at once, each for the service time that the server draws; `None` if unbounded.
    /// Only with these places or a [pace](Self::pace) can the least cost of a success be computed.
    fn places(&self) -> Option<Places> {
        None
    }

    /// Whether responses report the state of the limit even when this is the only policy and no template refers to it.
    fn tells_limit(&self) -> bool {
        true
    }

    /// True if, while nothing is rejected, every request is served that finds fewer requests in service than the server's cap. Only then
    /// can ops be planned in advance.
    fn is_plannable(&self) -> bool {
        false
    }

    /// Whether the policy obeys `rejects_occupy`: then a rejected request is as busy as a served one for its reject time.
    fn heeds_rejects_occupy(&self) -> bool {
        false
    }

    /// Returns the mean service time if the policy determines it; `None` if the server's `service_time` and `reject_time` apply.
    fn mean_service(&self) -> Option<Duration> {
        None
    }

    fn script(&self) -> Option<&Arc<Script>> {
        None
    }

    /// Time of an undisturbed attempt in addition to its service and the network legs.
    fn startup(&self) -> Duration {
        Duration::ZERO
    }
}
