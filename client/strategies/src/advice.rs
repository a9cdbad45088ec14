//! Advice of a server about retries, and the reaction of a client to it.
//!
//! Parsing and reaction are separate. [`AdviceForms`] defines in which headers a client reads advice, in which order,
//! and in which notations. It turns the headers of an answer into one [`Advice`]. [`AdviceRule`] defines the effect of
//! the advice on the delay of the backoff.

mod form;
mod forms;
mod headers;
mod quota;
mod rate_limit;
mod reaction;
mod rule;

use std::time::Duration;

pub use forms::AdviceForms;
pub use headers::{AdviceHeaders, AdviceValue, CustomResponses};
pub use quota::Quota;
pub(crate) use rule::Then;
pub use rule::{AdviceRule, Advised, RetryAfter};

/// Advice of a server about retries, as parsed by the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advice {
    /// The server gave no advice about retries.
    #[default]
    None,
    /// Advice to wait at least this time (`Retry-After`). Zero means that the client may retry at once.
    After(Duration),
    /// Advice to retry after an instant that has already passed.
    Past,
    /// Advice whose wait is a negative number.
    Negative,
    /// Advice about retries that the client cannot parse.
    Unreadable,
    /// Advice never to retry. The op then ends.
    Never,
}

/// Longest wait that any client supports: 2³² − 1 ms in whole seconds, almost 50 days. The Python SDK of Anthropic
/// turns `Retry-After: inf` into this wait.
pub(crate) const LONGEST: Duration = Duration::from_secs(4_294_967);

/// Longest wait that is read from an answer: 100 years. It exceeds what a client follows, so that mistakes of servers can be reported.
pub(crate) const MAX_READ: Duration = Duration::from_hours(100 * 365 * 24);
