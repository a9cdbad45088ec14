//! Reactions to a launch that a circuit breaker does not admit.

use vocabulary::choices;

use crate::{Advice, BudgetDecision, Until};

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum WhenOpen {
        #[default]
        GiveUp = "give-up",
        /// The launch fails without being sent. The retry policy then decides whether its op is retried.
        Shed = "shed",
        Wait = "wait",
    }
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
