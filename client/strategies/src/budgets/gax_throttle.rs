//! `gax-throttle`: the throttle of Google's Rust clients that refuses retries at random. The probability depends on the
//! share of failures since the start.
//!
//! Source: googleapis/google-cloud-rust `src/gax/src/retry_throttler.rs` (`AdaptiveThrottler`),
//! `retry_loop_internal.rs`. The throttle decides about a retry when its back-off is over. A refused retry backs off
//! again and is not counted. A failure that is not retriable counts as accepted by the server. Counts never expire.

use vocabulary::{Rng, parameters, unit};

use super::refusal::{surplus, was_accepted};
use crate::gauges::REFUSED;
use crate::part_config::part;
use crate::{Advice, AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct GaxThrottle = "gax-throttle" {
        factor: f64 = 2.0, "number of requests allowed per accepted request", 0.0..=1000.0;
    }
    summary = "refuses some retries at random while many fail, as in Google's clients";
    rule = "requests is the number of attempts that ended since the start, and accepted those of them that \
        succeeded or failed permanently. When its back-off is over, a retry is refused and backs off again \
        with probability max(0, (requests - factor * accepted) / (requests + 1))";
    source = "googleapis/google-cloud-rust src/gax/src/retry_throttler.rs, AdaptiveThrottler";
}

part!(GaxThrottle: Budget, |config, _| Throttle { config, requests: 0.0, accepted: 0.0 });

struct Throttle {
    config: GaxThrottle,
    requests: f64,
    accepted: f64,
}

impl Throttle {
    fn refusal(&self) -> f64 {
        surplus(self.requests, self.config.factor * self.accepted)
    }
}

impl Budget for Throttle {
    fn ask(&self, _now: Instant, launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision {
        if launch.attempt > 1 && unit(rng) <= self.refusal() {
            BudgetDecision::Shed(Advice::None)
        } else {
            BudgetDecision::Permit
        }
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        if let Some(accepted) = was_accepted(outcome) {
            self.requests += 1.0;
            self.accepted += f64::from(u8::from(accepted));
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&REFUSED, 100.0 * self.refusal());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::testing::{Always, FATAL, OK, REJECTED, ended, launch};

    const NOW: Instant = Instant::ORIGIN;

    fn after(factor: f64, outcomes: &[Outcome]) -> Throttle {
        let mut throttle = Throttle { config: GaxThrottle { factor }, requests: 0.0, accepted: 0.0 };
        for outcome in outcomes {
            throttle.on_ended(NOW, &ended(0, 1), outcome, Permit::default());
        }
        throttle
    }

    fn refuses(throttle: &Throttle, draw: f64) -> bool {
        throttle.ask(NOW, &launch(0, Some(Status::Rejected)), &mut Always(draw)) != BudgetDecision::Permit
    }

    /// google-cloud-rust, test `adaptive` of `retry_throttler.rs`.
    #[test]
    fn the_vectors_of_gax_come_out() {
        let counted = [REJECTED, REJECTED, OK, FATAL];
        for (upto, wanted) in [(1, (1.0, 0.0)), (2, (2.0, 0.0)), (3, (3.0, 1.0)), (4, (4.0, 2.0))] {
            let throttle = after(2.0, &counted[..upto]);
            assert_eq!((throttle.requests, throttle.accepted), wanted);
        }
        assert!(!refuses(&after(2.0, &[]), 0.5));
        let throttle = after(2.0, &[REJECTED]);
        assert_eq!((refuses(&throttle, 0.0), refuses(&throttle, 0.75)), (true, false));
        assert!(!refuses(&after(100.0, &[OK]), 0.5));
    }

    #[test]
    fn first_attempts_are_never_shed_and_sheds_are_not_counted() {
        let mut throttle = after(2.0, &[REJECTED; 99]);
        assert_eq!(throttle.ask(NOW, &launch(0, None), &mut Always(0.0)), BudgetDecision::Permit);
        assert_eq!((refuses(&throttle, 0.98), refuses(&throttle, 0.995)), (true, false));
        throttle.on_shed(NOW, &launch(0, Some(Status::Rejected)));
        assert!((throttle.requests - 99.0).abs() < f64::EPSILON);
    }
}
