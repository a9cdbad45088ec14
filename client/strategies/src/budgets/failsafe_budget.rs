//! `failsafe-budget`: limits the retries in flight to a share of all attempts in flight, as in failsafe-go.
//!
//! Source: failsafe-go/failsafe-go `budget/budget.go`, `retrypolicy/retryexecutor.go`. The budget is checked when the
//! back-off is over, and an op in back-off does not count as a retry. If the budget refuses a retry, the op ends.

use vocabulary::{Rng, parameters};

use super::live::Live;
use crate::gauges::RETRIES;
use crate::part_config::part;
use crate::{Advice, AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct FailsafeBudget = "failsafe-budget" {
        share: f64 = 0.2, "maximum ratio of retries in flight to all attempts in flight", 0.0..=1.0;
        least: u32 = 3, "number of retries in flight that is always allowed", 0..=1_000_000;
    }
    summary = "limits retries in flight to a share of all attempts, as in failsafe-go";
    rule = "when its back-off is over, a retry is refused, and its op is given up, if at least `least` \
        retries are in flight and they are more than share * attempts in flight";
    source = "failsafe-go/failsafe-go budget/budget.go, retrypolicy/retryexecutor.go";
}

part!(FailsafeBudget: Budget, |config, _| ShareOfExecutions { config, live: Live::default() });

struct ShareOfExecutions {
    config: FailsafeBudget,
    live: Live,
}

impl Budget for ShareOfExecutions {
    fn ask(&self, _now: Instant, launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        let Live { attempts, retries } = self.live;
        let exceeded =
            retries >= self.config.least && f64::from(retries) > self.config.share * f64::from(attempts);
        if launch.attempt > 1 && exceeded {
            BudgetDecision::Shed(Advice::Never)
        } else {
            BudgetDecision::Permit
        }
    }

    fn on_sent(&mut self, _now: Instant, launch: &Candidate) -> Permit {
        let permit = self.live.on_sent(launch);
        self.live.retries += u32::from(launch.attempt > 1);
        permit
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        self.live.on_ended(outcome, permit, false);
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&RETRIES, f64::from(self.live.retries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::testing::{Always, OK, ended, launch};

    const NOW: Instant = Instant::ORIGIN;

    /// Returns whether a retry may go, and sends it if so.
    fn acquire(budget: &mut ShareOfExecutions) -> bool {
        let retry = launch(0, Some(Status::Rejected));
        let granted = budget.ask(NOW, &retry, &mut Always(0.0)) == BudgetDecision::Permit;
        if granted {
            budget.on_sent(NOW, &retry);
        }
        granted
    }

    /// failsafe-go, `budget_test.go`: retries up to half of the executions, and one in any case, beside one
    /// execution.
    #[test]
    fn the_vectors_of_failsafe_come_out() {
        let config = FailsafeBudget { share: 0.5, least: 1 };
        let mut budget = ShareOfExecutions { config, live: Live::default() };
        let release = |budget: &mut ShareOfExecutions| budget.on_ended(NOW, &ended(0, 1), &OK, Permit(1));
        budget.on_sent(NOW, &launch(0, None));
        assert_eq!([(); 3].map(|()| acquire(&mut budget)), [true, true, false]);
        release(&mut budget);
        assert_eq!([(); 2].map(|()| acquire(&mut budget)), [true, false]);
        release(&mut budget);
        release(&mut budget);
        assert_eq!([(); 3].map(|()| acquire(&mut budget)), [true, true, false]);
    }

    #[test]
    fn three_retries_and_all_first_attempts_are_always_allowed() {
        let mut budget = ShareOfExecutions { config: FailsafeBudget::default(), live: Live::default() };
        assert_eq!([(); 4].map(|()| acquire(&mut budget)), [true, true, true, false]);
        assert_eq!(budget.ask(NOW, &launch(0, None), &mut Always(0.0)), BudgetDecision::Permit);
        // Only the three retries are in flight so far. After twelve first attempts, three of 15 are a fifth.
        for _ in 0..12 {
            budget.on_sent(NOW, &launch(0, None));
        }
        assert!(acquire(&mut budget), "3 of 15");
        assert!(!acquire(&mut budget), "4 of 16");
    }
}
