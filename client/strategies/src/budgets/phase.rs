//! Phases of circuit breakers, and their reactions to a launch that they do not admit.

use vocabulary::choices;

use crate::{Advice, BudgetDecision, Gauges, Instant, Until};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Closed,
    Open {
        until: Instant,
    },
    /// The breaker sends trials and waits for their outcomes. `left` is the number of trials that may still be sent.
    HalfOpen {
        left: u32,
    },
}

impl Phase {
    /// Returns how long nothing may be sent, or `None` if a launch is admitted.
    pub(super) fn blocked_until(self, now: Instant) -> Option<Until> {
        match self {
            Self::Open { until } if now < until => Some(Until::At(until)),
            Self::HalfOpen { left: 0 } => Some(Until::Event),
            Self::Closed | Self::Open { .. } | Self::HalfOpen { .. } => None,
        }
    }

    /// Shows the phase and the reason for it. A closed breaker does not override the phase of a limiter, because the
    /// limiter's phase is more informative.
    pub(super) fn show(self, reason: &'static str, gauges: &mut Gauges) {
        if gauges.phase.is_none() || self != Self::Closed {
            gauges.phase = Some(match self {
                Self::Closed => "closed",
                Self::Open { .. } => "open",
                Self::HalfOpen { .. } => "half-open",
            });
            gauges.reason = Some(reason);
        }
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum WhenOpen {
        GiveUp = "give-up",
        /// The launch fails without being sent. The retry policy then decides whether its op is retried.
        Shed = "shed",
        Wait = "wait",
    }
}

impl WhenOpen {
    /// Decides on a launch while the breaker is in this phase.
    pub(super) fn gate(self, phase: Phase, now: Instant) -> BudgetDecision {
        match (phase.blocked_until(now), self) {
            (None, _) => BudgetDecision::Permit,
            (_, Self::GiveUp) => BudgetDecision::Shed(Advice::Never),
            (_, Self::Shed) => BudgetDecision::Shed(Advice::None),
            (Some(until), Self::Wait) => BudgetDecision::Wait(until),
        }
    }
}
