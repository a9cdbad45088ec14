//! A policy's configuration, which is also its factory.

use std::fmt;
use std::time::Duration;

use crate::policies::admission::Admission;

/// What makes a policy of its configuration, and what others must know of it. Its parameters and what it says of itself
/// are in [`Configurable`](vocabulary::Configurable).
pub(crate) trait PolicyConfig: fmt::Debug + Send + Sync {
    /// The policy, of which nobody holds anything yet.
    fn build(&self) -> Box<dyn Admission>;

    /// Whether it serves by slots, `max_busy` of them or as `caps` says, each of which serves one request at a time and, if
    /// rejections occupy, is busy with a rejected one for its reject time. Only then there is a cap that can be changed,
    /// ops can be planned, and it is known what a success costs at least.
    fn has_slots(&self) -> bool {
        false
    }

    /// How long a service takes on average, where the policy itself decides that; `None` when services and rejections take
    /// the server's own `service_time` and `reject_time`.
    fn mean_service(&self) -> Option<Duration> {
        None
    }

    /// What an undisturbed attempt takes besides its service and the ways to the server and back.
    fn startup(&self) -> Duration {
        Duration::ZERO
    }
}
