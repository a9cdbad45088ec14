//! `sre-throttle`: refuses launches at random, with a probability that grows with the share of requests that the server
//! recently rejected.
//!
//! Source: "Site Reliability Engineering", chapter 21, Handling Overload: P = max(0, (requests − K · accepts) /
//! (requests + 1)) over the last two minutes, K = 2. In this formula, K is the number of requests allowed per accepted
//! request. Launches that this throttle refuses count as requests, too. As in all implementations, a request is counted
//! when it ends. If requests were counted when sent, each request of a burst would raise the probability that the
//! others are refused.
//!
//! The throttle of zeromicro/go-zero `core/breaker/googlebreaker.go` before version 1.7 (commit 03fca6b) is almost the
//! same with `factor=1.5,window=10s,spare=5,on-refusal=fail`. Only its time slices have another width. For go-zero 1.7
//! and later, use `go-zero-breaker`.

use std::time::Duration;

use vocabulary::{Rng, parameters, unit};

use super::refusal::{OnRefusal, surplus, was_accepted};
use super::tally::Tally;
use crate::gauges::REFUSED;
use crate::part_config::part;
use crate::{AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct SreThrottle = "sre-throttle" {
        factor: f64 = 2.0, "number of requests allowed per accepted request", 1.0..=1000.0;
        window: Duration = Duration::from_mins(2),
            "how far back ended attempts are counted", Duration::from_secs(1)..=Duration::from_hours(1);
        spare: u32 = 0, "number of requests that is always allowed", 0..=1_000_000;
        on_refusal: choice OnRefusal = OnRefusal::BackOff,
            "whether a refused launch backs off as after a failure, or ends its op";
    }
    summary = "refuses some launches at random while the server rejects many";
    rule = "requests and accepted ones are counted over the last `window`. A launch that this throttle \
        refuses counts as a request. Attempts that succeeded or failed permanently count as accepted. A \
        launch is refused with probability max(0, (requests - spare - factor * accepted) / (requests + 1))";
    source = "the book Site Reliability Engineering, chapter 21, Handling Overload";
}

part!(SreThrottle: Budget, |config, _| Throttle::new(config));

struct Throttle {
    tally: Tally,
    config: SreThrottle,
    refused: f64,
}

impl Throttle {
    fn new(config: SreThrottle) -> Self {
        Self { tally: Tally::over(config.window), config, refused: 0.0 }
    }

    fn refusal(&self, now: Instant) -> f64 {
        let counts = self.tally.at(now);
        let allowed = f64::from(self.config.spare) + self.config.factor * counts.accepted as f64;
        surplus(counts.requests as f64, allowed)
    }

    fn count(&mut self, now: Instant, accepted: bool) {
        self.tally.count(now, accepted);
        self.refused = self.refusal(now);
    }
}

impl Budget for Throttle {
    fn ask(&self, now: Instant, _launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision {
        if unit(rng) < self.refusal(now) { self.config.on_refusal.gate() } else { BudgetDecision::Permit }
    }

    fn on_shed(&mut self, now: Instant, _launch: &Candidate) {
        self.count(now, false);
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        if let Some(accepted) = was_accepted(outcome) {
            self.count(now, accepted);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&REFUSED, 100.0 * self.refused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advice;
    use crate::testing::{Always, FATAL, OK, REJECTED, ended, launch};

    fn secs(secs: u64) -> Instant {
        Instant::from_millis(1000 * secs)
    }

    fn end(throttle: &mut Throttle, at: Instant, outcome: Outcome) {
        throttle.on_ended(at, &ended(0, 1), &outcome, Permit::default());
    }

    #[test]
    fn nothing_is_refused_while_half_of_it_is_accepted() {
        let mut throttle = Throttle::new(SreThrottle::default());
        for _ in 0..10 {
            end(&mut throttle, secs(0), OK);
            end(&mut throttle, secs(0), REJECTED);
        }
        assert!(throttle.refusal(secs(0)).abs() < f64::EPSILON);
        for _ in 0..9 {
            end(&mut throttle, secs(0), REJECTED);
        }
        // 29 requests, 10 accepted.
        assert!((throttle.refusal(secs(0)) - 0.3).abs() < 1e-12);
        let ask = |draw| throttle.ask(secs(0), &launch(0, None), &mut Always(draw));
        assert_eq!((ask(0.29), ask(0.31)), (BudgetDecision::Shed(Advice::None), BudgetDecision::Permit));
    }

    #[test]
    fn sheds_count_as_requests_and_all_requests_for_two_minutes() {
        let mut throttle = Throttle::new(SreThrottle::default());
        end(&mut throttle, secs(0), REJECTED);
        assert!((throttle.refusal(secs(0)) - 0.5).abs() < 1e-12);
        for _ in 0..8 {
            throttle.on_shed(secs(60), &launch(0, None));
        }
        assert!((throttle.refusal(secs(60)) - 0.9).abs() < 1e-12);
        assert!((throttle.refusal(secs(120)) - 8.0 / 9.0).abs() < 1e-12);
        assert!(throttle.refusal(secs(180)).abs() < f64::EPSILON);
    }

    #[test]
    fn go_zero_lets_five_fail_first() {
        let mut throttle = Throttle::new(SreThrottle { factor: 1.5, spare: 5, ..SreThrottle::default() });
        for (failed, refused) in [(5, 0.0), (1, 1.0 / 7.0), (4, 5.0 / 11.0)] {
            for _ in 0..failed {
                end(&mut throttle, secs(0), REJECTED);
            }
            assert!((throttle.refusal(secs(0)) - refused).abs() < 1e-12, "{failed}");
        }
    }

    #[test]
    fn what_the_server_refuses_for_good_it_has_accepted() {
        let mut throttle =
            Throttle::new(SreThrottle { on_refusal: OnRefusal::Fail, ..SreThrottle::default() });
        end(&mut throttle, secs(0), FATAL);
        assert!(throttle.refusal(secs(0)).abs() < f64::EPSILON);
        end(&mut throttle, secs(0), REJECTED);
        end(&mut throttle, secs(0), REJECTED);
        let gate = throttle.ask(secs(0), &launch(0, None), &mut Always(0.0));
        assert_eq!(gate, BudgetDecision::Shed(Advice::Never), "3 requests, 1 accepted");
    }
}
