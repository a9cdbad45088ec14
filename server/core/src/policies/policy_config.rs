//! Interface of a policy's configuration, which creates the policy and describes its properties.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::pace::Pace;
use crate::policies::admission::Admission;
use crate::policies::common::Common;
use crate::policies::limit::Limit;
use crate::policies::stage_policy::StagePolicy;
use crate::rate_model::RateLaw;
use crate::script::Script;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    Slots,
    Own(u32),
}

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

    /// Whether the policy uses the server's own cap (`max_busy` or `caps`). The cap can be changed during a run only if the policy uses it.
    fn has_cap(&self) -> bool {
        false
    }

    /// Returns the maximum number of requests that the policy lets be in service at the same time, if the server draws their service times.
    /// `None` if there is no such maximum. The minimum cost of a successful op can be computed only from this maximum or from a
    /// [pace](Self::pace).
    fn places(&self) -> Option<Places> {
        None
    }

    /// Whether responses report the status of the policy's limit even if the policy is the only one and no template uses this status.
    fn advertises_limit(&self) -> bool {
        true
    }

    /// True if the policy serves every request that arrives while the number of requests in service is below the server's cap. The policy
    /// need do so only as long as nothing is rejected. Ops can be planned in advance only for a policy with this property.
    fn is_plannable(&self) -> bool {
        false
    }

    /// Whether the setting `rejects_occupy` applies to the policy. With this setting, a rejected request counts as busy for its reject
    /// time, as a served request does for its service time.
    fn obeys_rejects_occupy(&self) -> bool {
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
