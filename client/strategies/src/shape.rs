//! The shape of a back-off: how its delays grow, spread, and are bounded. Every policy that waits by a rule of its own is
//! one of these.

mod curve;
mod grain;
mod growth;
mod list;
mod optional;
mod policy;
mod spread;

use std::time::Duration;

use vocabulary::Choice;

use crate::delay::LONGEST;
use crate::formula::Program;

pub(crate) use grain::Grain;
pub(crate) use growth::{Growth, GrowthName};
pub(crate) use list::DelayList;
pub(crate) use optional::{OptionalDuration, OptionalNumber, up_to_a_day};
pub use policy::Shaped;
pub(crate) use spread::Spread;

/// All that there is to say about a back-off. The default waits `base` before every retry.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// What the delays are made of.
    pub(crate) base: Duration,
    /// How they grow.
    pub(crate) growth: Growth,
    /// What the first retry counts as.
    pub(crate) start: u32,
    /// What every delay has besides what grows.
    pub(crate) offset: Duration,
    /// Before retry k the k-th of these instead, unless there are none.
    pub(crate) delays: Vec<Duration>,
    /// What follows the last of them.
    pub(crate) after_last: AfterLast,
    /// Instead of all that, before anything else: a rule that no shape fits.
    pub(crate) formula: Option<Program>,
    /// Before the first retry, whatever the rest says.
    pub(crate) first: Option<Duration>,
    /// The longest delay.
    pub(crate) cap: Duration,
    /// When it is cut to that.
    pub(crate) cap_applies: Applies,
    /// What chance adds or takes.
    pub(crate) spread: Spread,
    /// The step between delays that can be drawn; zero for any.
    pub(crate) grid: Duration,
    /// The shortest delay.
    pub(crate) min: Duration,
    /// When it is raised to that.
    pub(crate) min_applies: Applies,
    /// What it is rounded to in the end.
    pub(crate) grain: Grain,
    /// Whose failures count.
    pub(crate) counter: Counter,
    /// The base after an outcome that the strategy takes for throttling, when that is another.
    pub(crate) throttled_base: Option<Duration>,
    /// The factor after such an outcome, when that is another.
    pub(crate) throttled_factor: Option<f64>,
    /// Whether a delay of zero is meant: it is then kept where others are held back a little.
    pub(crate) states_delay: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            base: Duration::ZERO,
            growth: Growth::Constant,
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

/// When a bound is put on a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applies {
    /// Chance can still leave it.
    BeforeSpread,
    /// Chance is within it.
    AfterSpread,
}

impl Choice for Applies {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("before-spread", Self::BeforeSpread), ("after-spread", Self::AfterSpread)];
}

/// What follows the last delay of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AfterLast {
    /// The last one, again and again.
    #[default]
    Repeat,
    /// The op is given up.
    GiveUp,
}

impl Choice for AfterLast {
    const CHOICES: &'static [(&'static str, Self)] = &[("repeat", Self::Repeat), ("give-up", Self::GiveUp)];
}

/// Whose failures k counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counter {
    /// The op's own.
    #[default]
    PerOp,
    /// Those of the op of this client that failed last, the new one added.
    PerClient,
}

impl Choice for Counter {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("per-op", Self::PerOp), ("per-client", Self::PerClient)];
}

#[cfg(test)]
mod tests;
