//! `envoy-budget`: limits retries to a share of the attempts in flight, as Envoy's circuit breakers do.
//!
//! Source: envoyproxy/envoy `source/common/upstream/resource_manager_impl.h` (`RetryBudgetImpl`),
//! `source/common/router/retry_state_impl.cc`. A retry is counted from the moment at which it is permitted until it
//! ends, so its back-off is included. When the retry is checked, the failed request still counts as active. The reason
//! is that Envoy checks the budget while it handles the response headers. A cluster without a budget allows at most 3
//! retries: `share=0`. A hedged copy is counted as a retry, as with `hedge_on_per_try_timeout`
//! (`source/common/router/router.cc`).

use vocabulary::{Rng, parameters};

use super::live::Live;
use crate::gauges::RETRIES;
use crate::part_config::part;
use crate::{
    Advice, AttemptEnd, Budget, BudgetDecision, Candidate, FailedOp, Gauges, Instant, Outcome, Permit,
};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct EnvoyBudget = "envoy-budget" {
        share: f64 = 0.2, "maximum ratio of retries in flight to all attempts in flight", 0.0..=1.0;
        least: u32 = 3, "number of retries in flight that is always allowed", 0..=1_000_000;
    }
    summary = "limits retries in flight to a share of all attempts in flight";
    rule = "an op may retry only if fewer than max(⌊share * attempts in flight⌋, least) retries are in \
        flight. This is decided when an attempt fails, and the failed attempt still counts as in flight. A \
        retry counts from that decision until its end, including its back-off";
    source = "envoyproxy/envoy source/common/upstream/resource_manager_impl.h";
}

part!(EnvoyBudget: Budget, |config, _| ShareInFlight { config, live: Live::default() });

struct ShareInFlight {
    config: EnvoyBudget,
    live: Live,
}

impl ShareInFlight {
    fn has_room(&self, active: f64) -> bool {
        f64::from(self.live.retries)
            < libm::floor(self.config.share * active).max(f64::from(self.config.least))
    }
}

impl Budget for ShareInFlight {
    fn ask(&self, _now: Instant, launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        // At launch, only hedged copies are checked. Retries need no check, because each retry was already permitted
        // when the previous attempt failed.
        if launch.copy == 0 || self.has_room(f64::from(self.live.attempts)) {
            BudgetDecision::Permit
        } else {
            BudgetDecision::Shed(Advice::Never)
        }
    }

    fn permits_retry(&self, _now: Instant, _failed: &FailedOp) -> bool {
        self.has_room(f64::from(self.live.attempts) + 1.0)
    }

    fn on_retry(&mut self, _now: Instant, _failed: &FailedOp) {
        self.live.retries = self.live.retries.saturating_add(1);
    }

    fn on_retry_withdrawn(&mut self, _now: Instant) {
        self.live.retries = self.live.retries.saturating_sub(1);
    }

    fn on_sent(&mut self, _now: Instant, launch: &Candidate) -> Permit {
        self.live.retries = self.live.retries.saturating_add(u32::from(launch.copy > 0));
        self.live.on_sent(launch)
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        self.live.on_ended(outcome, permit, true);
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&RETRIES, f64::from(self.live.retries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::testing::{Always, OK, REJECTED, ended, launch, rejected};

    const NOW: Instant = Instant::ORIGIN;

    fn budget(share: f64, least: u32) -> ShareInFlight {
        ShareInFlight { config: EnvoyBudget { share, least }, live: Live::default() }
    }

    fn send(budget: &mut ShareInFlight, count: u32) {
        for _ in 0..count {
            budget.on_sent(NOW, &launch(0, None));
        }
    }

    /// Fails one of the attempts in flight. Returns whether it may be retried, and starts its back-off if so.
    fn fails(budget: &mut ShareInFlight, permit: Permit) -> bool {
        budget.on_ended(NOW, &ended(0, 1), &REJECTED, permit);
        let permitted = budget.permits_retry(NOW, &rejected(1));
        if permitted {
            budget.on_retry(NOW, &rejected(1));
        }
        permitted
    }

    fn retry(budget: &mut ShareInFlight) -> Permit {
        budget.on_sent(NOW, &launch(0, Some(Status::Rejected)))
    }

    #[test]
    fn retries_may_be_a_fifth_of_attempts_in_flight_or_three() {
        let mut many = budget(0.2, 3);
        send(&mut many, 100);
        let permitted = (0..40).filter(|_| fails(&mut many, Permit::default())).count();
        // Each failure leaves one attempt fewer in flight. The seventeenth occurs at 84, a fifth of which is 16.
        assert_eq!(permitted, 16);
        let mut few = budget(0.2, 3);
        send(&mut few, 9);
        let permitted = [(); 5].map(|()| fails(&mut few, Permit::default()));
        assert_eq!(permitted, [true, true, true, false, false]);
    }

    #[test]
    fn a_retry_counts_from_its_permission_to_its_end() {
        let mut budget = budget(0.0, 1);
        send(&mut budget, 3);
        assert!(fails(&mut budget, Permit::default()));
        assert!(!fails(&mut budget, Permit::default()), "one is asleep");
        let permit = retry(&mut budget);
        assert!(!fails(&mut budget, Permit::default()), "one is in flight");
        assert!(fails(&mut budget, permit), "it has failed, and may be tried once more");
        let permit = retry(&mut budget);
        budget.on_ended(NOW, &ended(0, 1), &Outcome::plain(Status::Deferred), permit);
        assert_eq!(budget.live, Live { attempts: 0, retries: 1 }, "it will be sent again");
        let permit = retry(&mut budget);
        budget.on_ended(NOW, &ended(0, 1), &OK, permit);
        assert_eq!(budget.live, Live::default());
    }

    #[test]
    fn a_copy_is_a_retry_from_its_sending_to_its_end() {
        let mut budget = budget(0.0, 2);
        let copy = Candidate { attempt: 2, copy: 1, ..launch(0, None) };
        let ask = |budget: &mut ShareInFlight| budget.ask(NOW, &copy, &mut Always(0.5));
        send(&mut budget, 9);
        assert_eq!(ask(&mut budget), BudgetDecision::Permit);
        let permit = budget.on_sent(NOW, &copy);
        assert!(fails(&mut budget, Permit::default()), "one is left");
        assert_eq!(ask(&mut budget), BudgetDecision::Shed(Advice::Never));
        assert_eq!(
            budget.ask(NOW, &launch(0, Some(Status::Rejected)), &mut Always(0.5)),
            BudgetDecision::Permit
        );
        budget.on_ended(NOW, &ended(0, 1), &Outcome::plain(Status::Cancelled), permit);
        assert_eq!(budget.live, Live { attempts: 8, retries: 1 });
    }

    #[test]
    fn a_retry_that_is_withdrawn_counts_no_more() {
        let mut budget = budget(0.0, 1);
        send(&mut budget, 1);
        assert!(fails(&mut budget, Permit::default()));
        budget.on_retry_withdrawn(NOW);
        assert_eq!(budget.live, Live::default());
    }
}
