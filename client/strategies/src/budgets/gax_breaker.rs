//! `gax-breaker`: the throttle of Google's Rust clients that refuses all retries while too few tokens are left.
//!
//! Source: googleapis/google-cloud-rust `src/gax/src/retry_throttler.rs` (`CircuitBreaker`). It is gRPC's retry
//! throttling with a configurable cost, checked when the back-off is over. A refused retry backs off again. If too few
//! tokens are left and all remaining requests are retries, no success refills the tokens, and the ops would back off
//! forever. To prevent this, limit the time of ops with `max-time`, as Google's clients do.

use vocabulary::{Rng, parameters};

use super::refusal::was_accepted;
use crate::gauges::TOKENS;
use crate::part_config::part;
use crate::{Advice, AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct GaxBreaker = "gax-breaker" {
        tokens: u32 = 100, "initial and maximum number of tokens", 1..=1_000_000;
        least: u32 = 50,
            "number of remaining tokens at which, or below which, retries are refused", 0..=1_000_000;
        cost: u32 = 10, "tokens that a retriable failure takes", 0..=1_000_000;
    }
    summary = "refuses retries while few tokens are left, as in Google's Rust clients";
    rule = "the budget starts with `tokens` tokens. A retriable failure takes `cost` of them, and any other \
        end of an attempt adds 1. When its back-off is over, a retry is refused and backs off again if at \
        most `least` tokens are left";
    source = "googleapis/google-cloud-rust src/gax/src/retry_throttler.rs, CircuitBreaker";
}

// The minimum number of tokens is limited to the maximum number of tokens, as in the source (which calls `clamp`).
part!(GaxBreaker: Budget, |config, _| Breaker {
    tokens: config.tokens,
    config: GaxBreaker { least: config.least.min(config.tokens), ..config },
});

struct Breaker {
    config: GaxBreaker,
    tokens: u32,
}

impl Budget for Breaker {
    fn ask(&self, _now: Instant, launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        if launch.attempt > 1 && self.tokens <= self.config.least {
            BudgetDecision::Shed(Advice::None)
        } else {
            BudgetDecision::Permit
        }
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        match was_accepted(outcome) {
            Some(true) => self.tokens = (self.tokens + 1).min(self.config.tokens),
            Some(false) => self.tokens = self.tokens.saturating_sub(self.config.cost),
            None => {}
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&TOKENS, f64::from(self.tokens));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::testing::{Always, FATAL, OK, REJECTED, ended, launch};

    const NOW: Instant = Instant::ORIGIN;

    /// google-cloud-rust, test `circuit_breaker` of `retry_throttler.rs`.
    #[test]
    fn the_vectors_of_gax_come_out() {
        let mut breaker = Breaker { config: GaxBreaker::default(), tokens: 100 };
        let mut refuses_after = |outcome: Outcome, times: u32| {
            for _ in 0..times {
                breaker.on_ended(NOW, &ended(0, 1), &outcome, Permit::default());
            }
            assert_eq!(
                breaker.ask(NOW, &launch(0, None), &mut Always(0.0)),
                BudgetDecision::Permit,
                "a first attempt"
            );
            breaker.ask(NOW, &launch(0, Some(Status::Rejected)), &mut Always(0.0)) != BudgetDecision::Permit
        };
        assert!(!refuses_after(REJECTED, 0));
        for _ in 0..4 {
            assert!(!refuses_after(REJECTED, 1));
        }
        assert!(refuses_after(REJECTED, 2));
        for _ in 0..10 {
            assert!(refuses_after(OK, 1));
        }
        assert!(!refuses_after(OK, 1));
        refuses_after(REJECTED, 1);
        for _ in 0..9 {
            assert!(refuses_after(FATAL, 1));
        }
        assert!(!refuses_after(FATAL, 1));
    }
}
