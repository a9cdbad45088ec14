//! Reactions to a launch that a circuit breaker does not admit.

use vocabulary::Choice;

use crate::{Advice, BudgetDecision, Until};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WhenOpen {
    #[default]
    GiveUp,
    /// The launch fails without being sent. The retry policy then decides whether its op is retried.
    Shed,
    Wait,
}

impl Choice for WhenOpen {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("give-up", Self::GiveUp), ("shed", Self::Shed), ("wait", Self::Wait)];
}

impl WhenOpen {
    pub(super) fn gate(self, until: Until) -> BudgetDecision {
        match self {
            Self::GiveUp => BudgetDecision::Shed(Advice::Never),
            Self::Shed => BudgetDecision::Shed(Advice::None),
            Self::Wait => BudgetDecision::Wait(until),
        }
    }
}
