//! Shared part of probabilistic throttles: the probability of a refusal, and the consequence for a refused launch.

use vocabulary::choices;

use crate::{Advice, BudgetDecision, Classification, Outcome, Status};

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum OnRefusal {
        BackOff = "back-off",
        Fail = "fail",
    }
}

impl OnRefusal {
    pub(super) fn gate(self) -> BudgetDecision {
        BudgetDecision::Shed(match self {
            Self::BackOff => Advice::None,
            Self::Fail => Advice::Never,
        })
    }
}

/// Returns the share of excess requests: `(requests − accepted) / (requests + 1)`, at least 0. The caller computes
/// `accepted` from the number of requests that the server accepted. It multiplies that number by the requests allowed
/// per accepted one, and adds the number that is always allowed.
pub(super) fn surplus(requests: f64, accepted: f64) -> f64 {
    ((requests - accepted) / (requests + 1.0)).max(0.0)
}

/// Returns whether the server accepted an ended attempt. An attempt that succeeded or failed permanently counts as
/// accepted. Returns `None` for a shed, deferred or cancelled attempt.
pub(super) fn was_accepted(outcome: &Outcome) -> Option<bool> {
    match outcome.status {
        Status::Succeeded => Some(true),
        Status::Rejected | Status::Failed(_) => Some(outcome.classification == Classification::Final),
        Status::Shed | Status::Deferred | Status::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CANCELLED, FATAL, OK, REJECTED, TIMEOUT};

    #[test]
    fn what_is_above_what_was_accepted_is_surplus() {
        for (requests, accepted, wanted) in
            [(0.0, 0.0, 0.0), (1.0, 0.0, 0.5), (99.0, 50.0, 0.49), (10.0, 20.0, 0.0)]
        {
            assert!((surplus(requests, accepted) - wanted).abs() < 1e-12, "{requests}, {accepted}");
        }
    }

    #[test]
    fn the_server_accepts_what_it_does_and_what_it_refuses_for_good() {
        assert_eq!([OK, FATAL].map(|outcome| was_accepted(&outcome)), [Some(true); 2]);
        assert_eq!([REJECTED, TIMEOUT].map(|outcome| was_accepted(&outcome)), [Some(false); 2]);
        assert_eq!(was_accepted(&CANCELLED), None);
    }
}
