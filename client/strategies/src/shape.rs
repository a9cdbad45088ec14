//! Shape of a backoff: growth, spread and bounds of its delays. Every retry policy that computes delays has a shape.

mod grain;
mod growth;
mod optional;
mod policy;
mod spread;

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::choices;

use crate::delay::LONGEST;
use crate::formula::Program;

pub(crate) use grain::Grain;
pub(crate) use growth::Growth;
pub(crate) use optional::{DelayList, OptionalDuration, OptionalNumber, up_to_a_day};
pub use policy::Shaped;
pub(crate) use spread::Spread;

/// Complete description of how a backoff computes its delays. By default, every retry waits for `base`.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) base: Duration,
    pub(crate) growth: Growth,
    /// Factor of a growth that has a factor.
    pub(crate) factor: f64,
    /// Number that the first retry has in the formulas for the delay. The formulas call the number of a retry `k`.
    pub(crate) start: u32,
    pub(crate) offset: Duration,
    /// List of explicit delays, in the order of retries. Empty if the delays are computed.
    pub(crate) delays: Vec<Duration>,
    pub(crate) after_last: AfterLast,
    /// Formula for the delay, which replaces the settings for growth and spread. It is meant for backoffs that cannot
    /// be described by settings for growth and spread.
    pub(crate) formula: Option<Program>,
    /// Delay before the first retry. It replaces the computed delay. Only the final rounding (`grain`) is applied to
    /// it.
    pub(crate) first: Option<Duration>,
    pub(crate) cap: Duration,
    pub(crate) cap_applies: Applies,
    pub(crate) spread: Spread,
    pub(crate) grid: Duration,
    pub(crate) min: Duration,
    pub(crate) min_applies: Applies,
    pub(crate) grain: Grain,
    pub(crate) counter: Counter,
    pub(crate) throttled_base: Option<Duration>,
    /// Factor by which delays grow after throttling. `None` if they grow by the same factor as after other failures.
    pub(crate) throttled_factor: Option<f64>,
    /// True if a computed delay of zero is intentional. The strategy then does not raise short delays to a minimum
    /// after transport errors.
    pub(crate) states_delay: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            base: Duration::ZERO,
            growth: Growth::Constant,
            factor: 2.0,
            start: 1,
            offset: Duration::ZERO,
            delays: Vec::new(),
            after_last: AfterLast::default(),
            formula: None,
            first: None,
            cap: LONGEST,
            cap_applies: Applies::BeforeSpread,
            spread: Spread::None,
            grid: Duration::ZERO,
            min: Duration::ZERO,
            min_applies: Applies::AfterSpread,
            grain: Grain::default(),
            counter: Counter::default(),
            throttled_base: None,
            throttled_factor: None,
            states_delay: false,
        }
    }
}

choices! {
    pub(crate) enum Applies {
        BeforeSpread = "before-spread",
        AfterSpread = "after-spread",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum AfterLast {
        #[default]
        Repeat = "repeat",
        GiveUp = "give-up",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Counter {
        #[default]
        PerOp = "per-op",
        /// Failures are counted across the ops of the client. The count is the number of failures of the op that failed
        /// most recently before, plus one.
        PerClient = "per-client",
    }
}
