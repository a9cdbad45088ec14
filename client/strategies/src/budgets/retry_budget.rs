//! `retry-budget`: retries only while enough tokens are left; failures cost one, successes earn a little.
//!
//! Source: gRPC's retry throttling (proposal A6): tokens in [0, max], start full; a retriable failure takes 1, a
//! success adds `ratio`; a retry is let through only while tokens > max / 2. First attempts always pass.

use vocabulary::Rng;

use crate::parameter::Parameter;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::spec::SpecError;
use crate::{Advice, Budget, Ended, Gate, Gauges, Instant, Launch, Outcome, Permit, Status};

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
    const SUMMARY: &'static str =
        "retries only while failures are rare: tokens lost by failures, earned by successes";
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
        } else if outcome.status.is_congestion() {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.tokens = Some(self.tokens);
    }
}
