//! Interface of a policy's configuration, which creates the policy and describes its properties.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::policies::{Admission, Common, StagePolicy};
use crate::{Pace, RateLaw, Script};

/// Configuration of a policy. Creates the policy's state, and describes the policy's properties to other parts of the server. Parameters,
/// summary, rule and source are in [`Configurable`](vocabulary::Configurable).
pub(crate) trait PolicyConfig: fmt::Debug + Send + Sync {
    /// Creates the policy as the part of the server that serves requests, in its initial state. `None` if the policy only admits requests
    /// and does not serve them.
    fn build(&self) -> Option<Box<dyn Admission>> {
        None
    }

    /// Creates the policy as a stage, which admits or rejects requests before they are served. `None` if the policy cannot be a stage.
    fn gate(&self, _common: &Common) -> Option<Box<dyn StagePolicy>> {
        None
    }

    /// Returns a proven lower bound on the instants at which requests of cost 1 can pass the policy, whatever the clients do. `None` if
    /// there is no proven bound.
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// Returns the rate limit that a single client observes. `None` if the policy is not a rate limit.
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

    /// Whether the policy is nothing but the server's own cap: it serves every request that arrives while the number of requests in
    /// service is below the cap, at least as long as nothing is rejected. Only for such a policy can ops be planned in advance. It does not
    /// report the status of its limit in responses if it is the only policy and no template uses the status.
    fn is_plain_cap(&self) -> bool {
        false
    }

    /// Returns the policy's own mean service time. `None` if the server's `service_time` and `reject_time` apply.
    fn mean_service(&self) -> Option<Duration> {
        None
    }

    fn script(&self) -> Option<&Arc<Script>> {
        None
    }

    fn counts_calls(&self) -> bool {
        false
    }

    /// Returns the time that an attempt takes besides its service and the network delays, if no other attempts disturb it.
    fn startup(&self) -> Duration {
        Duration::ZERO
    }
}

/// Description of the parameter by which users adjust a policy's limit during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) key: &'static str,
    pub(crate) per: Per,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Per {
    /// The limit has no separate period. Its value contains the period, as in `20/s`, or no period applies.
    Nothing,
    Day,
    /// The period of the limit is the value of another parameter, which has this key.
    Parameter(&'static str),
}

impl Limit {
    pub(crate) const fn new(key: &'static str) -> Self {
        Self { key, per: Per::Nothing }
    }

    pub(crate) const fn within(key: &'static str, time: &'static str) -> Self {
        Self { key, per: Per::Parameter(time) }
    }
}
