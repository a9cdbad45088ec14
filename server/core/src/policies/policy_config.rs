//! A policy's configuration, which is also its factory.

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

/// Places for requests in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// As many as the server has slots.
    Slots,
    /// So many of the policy's own.
    Own(u32),
}

/// What makes a policy of its configuration, and what others must know of it. Its parameters and what it says of itself
/// are in [`Configurable`](vocabulary::Configurable).
pub(crate) trait PolicyConfig: fmt::Debug + Send + Sync {
    /// The policy as what serves, of which nobody holds anything yet; `None` where it only lets requests pass.
    fn build(&self) -> Option<Box<dyn Admission>> {
        None
    }

    /// The policy as a stage before what serves; `None` where it cannot be one.
    fn gate(&self, _common: &Common) -> Option<Box<dyn Gate>> {
        None
    }

    /// How soon it lets requests pass that cost 1 each, whatever their clients do; `None` where that is not proven.
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// What it lets pass, as one who is alone would have it; `None` where it is no law about rates.
    fn rate_law(&self) -> Option<RateLaw> {
        None
    }

    /// Which of its parameters says how much it lets pass, if one does.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// Whether its limit grows while a load lasts.
    fn grows(&self) -> bool {
        false
    }

    /// Whether it lets everybody pass.
    fn limits_nothing(&self) -> bool {
        false
    }

    /// Whether it serves by the server's own cap, `max_busy` or as `caps` says: only then there is a cap that can be changed.
    fn has_cap(&self) -> bool {
        false
    }

    /// How many requests are in service at once at most, each for the service time that the server draws for it, if that is bounded.
    /// Only then, or by its [pace](Self::pace), it is known what a success costs at least.
    fn places(&self) -> Option<Places> {
        None
    }

    /// Whether answers tell where its limit stands when it is the only policy and no template asks for it.
    fn tells_limit(&self) -> bool {
        true
    }

    /// Whether it serves every request that finds less in service than that cap while nobody is rejected, so that ops can be
    /// planned in advance.
    fn is_plannable(&self) -> bool {
        false
    }

    /// Whether it heeds `rejects_occupy`: then a rejected request is as busy as a served one for its reject time.
    fn heeds_rejects_occupy(&self) -> bool {
        false
    }

    /// How long a service takes on average, where the policy itself decides that; `None` when services and rejections take
    /// the server's own `service_time` and `reject_time`.
    fn mean_service(&self) -> Option<Duration> {
        None
    }

    /// What it answers in words, if it goes by a script.
    fn script(&self) -> Option<&Arc<Script>> {
        None
    }

    /// What an undisturbed attempt takes besides its service and the ways to the server and back.
    fn startup(&self) -> Duration {
        Duration::ZERO
    }
}
