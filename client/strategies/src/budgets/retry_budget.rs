//! `retry-budget`: retries only while enough tokens are left; failures cost one, successes earn a little.
//!
//! Source: gRPC's retry throttling (proposal A6): tokens in [0, max], start full; a retriable failure, or any with
//! the advice not to retry, takes 1, a success adds `ratio`; a retry is let through only while tokens > max / 2.
//! First attempts always pass. With `on-empty=back-off` and nothing but retries left, no success can refill it:
//! bound the attempts or the time of ops then.

use vocabulary::Rng;

use crate::error::SpecError;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::{Advice, Budget, Ended, Gate, Gauges, Instant, Launch, Outcome, Permit, Status};
use vocabulary::Parameter;

/// What becomes of a retry that the budget refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnEmpty {
    /// The op is over, as in gRPC.
    #[default]
    Fail,
    /// The retry policy decides, as after any failure.
    BackOff,
}

/// Parameters of `retry-budget`.
#[derive(Clone, Debug)]
pub(crate) struct RetryBudget {
    max: f64,
    ratio: f64,
    on_empty: OnEmpty,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { max: 10.0, ratio: 0.1, on_empty: OnEmpty::Fail }
    }
}

impl PartConfig for RetryBudget {
    const NAME: &'static str = "retry-budget";
    const KIND: PartKind = PartKind::Budget;
    const SUMMARY: &'static str = "retries only while successes outweigh failures";
    const RULE: &'static str = "tokens start at max; a retriable failure takes 1, a success adds ratio; a retry passes only while \
                                tokens > max / 2";
    const SOURCE: &'static str = "gRPC proposal A6, retry throttling";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::number("max", "tokens at first, and at most", (1.0, 1e6), |config| &mut config.max),
        Parameter::number("ratio", "tokens earned by a success", (0.0, 1e3), |config| &mut config.ratio),
        Parameter::choice(
            "on-empty",
            "a refused retry ends its op, or backs off as after a failure",
            &["fail", "back-off"],
            |config| config.on_empty as usize,
            |config, word| config.on_empty = [OnEmpty::Fail, OnEmpty::BackOff][word],
        ),
    ];

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::Budget(Box::new(Tokens { tokens: self.max, config: self })))
    }
}

struct Tokens {
    config: RetryBudget,
    tokens: f64,
}

impl Budget for Tokens {
    fn ask(&self, _now: Instant, launch: &Launch, _rng: &mut dyn Rng) -> Gate {
        if launch.last.is_none() || self.tokens > self.config.max / 2.0 {
            return Gate::Permit;
        }
        Gate::Shed(match self.config.on_empty {
            OnEmpty::Fail => Advice::Never,
            OnEmpty::BackOff => Advice::None,
        })
    }

    fn on_ended(&mut self, _now: Instant, _ended: &Ended, outcome: &Outcome, _permit: Permit) {
        if outcome.status == Status::Succeeded {
            self.tokens = (self.tokens + self.config.ratio).min(self.config.max);
        } else if outcome.status.is_congestion() || outcome.advice == Advice::Never {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.tokens = Some(self.tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, CANCELLED, FATAL, OK, REJECTED, TIMEOUT, advised, ended, launch};

    const NOW: Instant = Instant::ORIGIN;
    const RETRY: Option<Status> = Some(Status::Rejected);

    fn full(config: RetryBudget) -> Tokens {
        Tokens { tokens: config.max, config }
    }

    fn end(tokens: &mut Tokens, outcome: Outcome) {
        tokens.on_ended(NOW, &ended(0, 1), &outcome, Permit::default());
    }

    fn ask(tokens: &Tokens, last: Option<Status>) -> Gate {
        tokens.ask(NOW, &launch(0, last), &mut Always(0.5))
    }

    #[test]
    fn retries_pass_only_above_half_and_not_at_half() {
        let mut tokens = full(RetryBudget::default());
        for _ in 0..4 {
            end(&mut tokens, REJECTED);
        }
        assert_eq!(ask(&tokens, RETRY), Gate::Permit, "6 tokens");
        end(&mut tokens, TIMEOUT);
        assert_eq!(ask(&tokens, RETRY), Gate::Shed(Advice::Never), "5 tokens");
        end(&mut tokens, OK);
        assert_eq!(ask(&tokens, RETRY), Gate::Permit, "5.1 tokens");
    }

    #[test]
    fn first_attempts_always_pass() {
        let mut tokens = full(RetryBudget::default());
        for _ in 0..100 {
            end(&mut tokens, REJECTED);
        }
        assert_eq!(ask(&tokens, None), Gate::Permit);
    }

    #[test]
    fn tokens_stay_between_zero_and_max() {
        let mut tokens = full(RetryBudget { max: 3.0, ratio: 0.5, ..RetryBudget::default() });
        end(&mut tokens, OK);
        let mut gauges = Gauges::default();
        tokens.report(&mut gauges);
        assert_eq!(gauges.tokens, Some(3.0));
        for _ in 0..5 {
            end(&mut tokens, REJECTED);
        }
        for _ in 0..3 {
            end(&mut tokens, OK);
        }
        assert_eq!(ask(&tokens, RETRY), Gate::Shed(Advice::Never), "1.5 tokens of 3");
        end(&mut tokens, OK);
        assert_eq!(ask(&tokens, RETRY), Gate::Permit, "2 tokens of 3");
    }

    #[test]
    fn fatal_failures_cost_only_with_the_advice_not_to_retry() {
        let mut tokens = full(RetryBudget { max: 2.0, ..RetryBudget::default() });
        end(&mut tokens, FATAL);
        end(&mut tokens, CANCELLED);
        assert_eq!(ask(&tokens, RETRY), Gate::Permit);
        end(&mut tokens, Outcome { advice: Advice::Never, ..FATAL });
        assert_eq!(ask(&tokens, RETRY), Gate::Shed(Advice::Never));
        end(&mut tokens, advised(Advice::Never));
        assert!(tokens.tokens.abs() < 1e-9);
    }

    #[test]
    fn a_refused_retry_may_back_off_instead_of_ending_its_op() {
        let config = RetryBudget { on_empty: OnEmpty::BackOff, max: 1.0, ..RetryBudget::default() };
        let mut tokens = full(config);
        end(&mut tokens, REJECTED);
        assert_eq!(ask(&tokens, RETRY), Gate::Shed(Advice::None));
    }
}
