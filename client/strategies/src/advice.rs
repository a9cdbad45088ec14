//! What a server advises about trying again, and what a client makes of that.
//!
//! Reading and heeding are apart. [`AdviceForms`] says which headers a client reads, in its order, and what it understands in
//! each: out of an answer's headers comes one [`Advice`]. [`AdviceRule`] says what that does to the delay of the back-off.

mod forms;
mod go_duration;
mod header;
mod headers;
mod limit;
mod moments;
mod numbers;
mod rate_limit;
mod reaction;
mod rule;

use std::time::Duration;

pub use forms::AdviceForms;
pub use headers::{AdviceHeaders, AdviceValue, OwnWords};
pub use rule::{AdviceRule, Advised, RetryAfter};

/// What the server advised about trying again, as the client reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    #[default]
    None,
    /// Not before this much time has passed (`Retry-After`); zero means at once.
    After(Duration),
    /// A moment that has passed.
    Past,
    /// A number below zero.
    Negative,
    /// Something that this client cannot read.
    Unreadable,
    /// Never: the op is over.
    Never,
}

/// No client waits longer: 2³² − 1 ms in whole seconds, almost 50 days, which is what the Python SDK of Anthropic makes of
/// `Retry-After: inf`.
pub(crate) const LONGEST: Duration = Duration::from_secs(4_294_967);
