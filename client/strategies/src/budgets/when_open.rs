//! What becomes of launches that a breaker does not let through.

use vocabulary::Choice;

use crate::{Advice, Gate, Until};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WhenOpen {
    /// Their ops are over.
    #[default]
    GiveUp,
    /// They fail, and the retry policy decides.
    Shed,
    /// They wait.
    Wait,
}

impl Choice for WhenOpen {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("give-up", Self::GiveUp), ("shed", Self::Shed), ("wait", Self::Wait)];
}

impl WhenOpen {
    /// The answer to a launch that could go then at the soonest.
    pub(super) fn gate(self, until: Until) -> Gate {
        match self {
            Self::GiveUp => Gate::Shed(Advice::Never),
            Self::Shed => Gate::Shed(Advice::None),
            Self::Wait => Gate::Wait(until),
        }
    }
}
