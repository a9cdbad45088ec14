//! `failsafe-throttle`: failsafe-go's adaptive throttler, which refuses launches at random while more than a tenth of
//! the attempts (executions, in failsafe-go) fail.
//!
//! Source: failsafe-go/failsafe-go `adaptivethrottler/adaptivethrottler.go`, `internal/util/stats.go`. A launch is
//! refused with probability P = min(most, max(0, n − ok / (1 − rate)) / (n + 1)). In this formula, `n` is the number of
//! executions that ended in the last minute. `ok` is the number of these executions that succeeded or failed
//! permanently. Executions older than a minute are dropped only when another execution ends.

use std::time::Duration;

use vocabulary::{Rng, parameters, unit};

use super::refusal::{OnRefusal, surplus, was_accepted};
use super::tally::Tally;
use crate::gauges::REFUSED;
use crate::part_config::part;
use crate::{AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct FailsafeThrottle = "failsafe-throttle" {
        rate: f64 = 0.1, "share of failures up to which no launch is refused", 0.0..=0.99;
        window: Duration = Duration::from_mins(1),
            "how far back ended attempts are counted", Duration::from_secs(1)..=Duration::from_hours(1);
        most: f64 = 0.9, "highest probability of refusal", 0.0..=0.999;
        on_refusal: choice OnRefusal = OnRefusal::BackOff,
            "whether a refused launch backs off as after a failure, or ends its op";
    }
    summary = "refuses some launches at random while too many fail, as in failsafe-go";
    rule = "n is the number of attempts that ended in the last `window`, and ok those of them that succeeded \
        or failed permanently. A launch is refused with probability min(most, max(0, n - ok / (1 - rate)) / \
        (n + 1))";
    source = "failsafe-go/failsafe-go adaptivethrottler/adaptivethrottler.go";
}

part!(FailsafeThrottle: Budget, |config, _| Throttle { tally: Tally::over(config.window), config });

struct Throttle {
    tally: Tally,
    config: FailsafeThrottle,
}

impl Throttle {
    fn refusal(&self) -> f64 {
        let counts = self.tally.as_of_the_last();
        surplus(counts.requests as f64, counts.accepted as f64 / (1.0 - self.config.rate))
            .min(self.config.most)
    }
}

impl Budget for Throttle {
    fn ask(&self, _now: Instant, _launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision {
        if self.refusal() <= unit(rng) { BudgetDecision::Permit } else { self.config.on_refusal.gate() }
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        if let Some(accepted) = was_accepted(outcome) {
            self.tally.count(now, accepted);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&REFUSED, 100.0 * self.refusal());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advice;
    use crate::testing::{Always, OK, REJECTED, ended, launch};

    fn after(config: FailsafeThrottle, succeeded: u32, failed: u32) -> Throttle {
        let mut throttle = Throttle { tally: Tally::over(config.window), config };
        for (outcome, count) in [(OK, succeeded), (REJECTED, failed)] {
            for _ in 0..count {
                throttle.on_ended(Instant::ORIGIN, &ended(0, 1), &outcome, Permit::default());
            }
        }
        throttle
    }

    /// failsafe-go, `adaptivethrottler_test.go`.
    #[test]
    fn the_vectors_of_failsafe_come_out() {
        let refusal = |most, failed| {
            after(FailsafeThrottle { most, ..FailsafeThrottle::default() }, 0, failed).refusal()
        };
        assert!((refusal(0.9, 1) - 0.5).abs() < 1e-12);
        assert!((refusal(0.999, 50) - 50.0 / 51.0).abs() < 1e-12);
        assert!((refusal(0.5, 20) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_tenth_may_fail() {
        assert!(after(FailsafeThrottle::default(), 90, 10).refusal().abs() < 1e-12);
        let throttle = after(FailsafeThrottle::default(), 90, 109);
        assert!((throttle.refusal() - 99.0 / 200.0).abs() < 1e-12);
        let ask = |draw| throttle.ask(Instant::ORIGIN, &launch(0, None), &mut Always(draw));
        assert_eq!((ask(0.49), ask(0.5)), (BudgetDecision::Shed(Advice::None), BudgetDecision::Permit));
    }
}
