//! `retry-budget`: admits retries only while enough tokens are left. A failure costs one token; a success adds a part
//! of one.
//!
//! Source: gRPC's retry throttling (proposal A6). The number of tokens is in [0, max] and starts at max. A success adds
//! `ratio` tokens. A failure takes 1 token if the strategy would retry it, or if the server advises never to retry. A
//! retry is admitted only while tokens > max / 2. First attempts are always admitted. With hedging, the first attempt
//! of each round is always admitted. Hedged copies are admitted only if tokens > max / 2 at their due time.
//!
//! The parameter `ask` sets the time of the decision about a retry. With `ask=failure`, the budget decides at the
//! failure, as in gRPC: after it has taken the token for the failure, and before any back-off. Source for this order:
//! `shouldRetry` in `stream.go` of grpc/grpc-go. gRPC counts in thousandths of a token, so `ratio` has three decimals
//! (grpc/grpc `src/core/client_channel/retry_throttle.cc`). With `ask=retry`, the budget decides when the back-off is
//! over. So successes and failures during the back-off count, too.
//!
//! With `on-empty=back-off`, a refused retry backs off again. If all remaining requests are retries, no success refills
//! the tokens, and the ops would back off forever. To prevent this, limit the attempts or the time of ops.

use vocabulary::{Rng, parameters};

use crate::part_config::part;
use crate::{
    Advice, AttemptEnd, Budget, BudgetDecision, Candidate, FailedOp, Gauges, Instant, Outcome, Permit, Status,
};
use vocabulary::choices;

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum OnEmpty {
        Fail = "fail",
        BackOff = "back-off",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Ask {
        Failure = "failure",
        Retry = "retry",
    }
}

parameters! {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct RetryBudget = "retry-budget" {
        max: f64 = 10.0, "initial and maximum number of tokens", 1.0..=1e6;
        ratio: f64 = 0.1, "number of tokens that a success adds, such as 0.1", 0.0..=1e3;
        on_empty: choice OnEmpty = OnEmpty::Fail,
            "whether a refused retry ends its op, or backs off as after a failure";
        ask: choice Ask = Ask::Retry, "when a retry is admitted or refused: at the failure, before the \
            back-off, as in gRPC; or at the retry, after the back-off";
    }
    summary = "admits retries only while successes outweigh failures";
    rule = "the budget starts with `max` tokens. A retriable failure takes 1 token, a success adds `ratio` \
        of one. A retry is admitted only while more than max / 2 tokens are left. With ask=retry, this is \
        decided when the back-off is over. With ask=failure, as in gRPC, it is decided at the failure, and a \
        refused op is given up at once. A hedger's copies are also sent only while more than max / 2 tokens \
        are left";
    source = "gRPC proposal A6, section on retry throttling";

    fn check(&self) -> Result<(), String> {
        if self.ask == Ask::Failure && self.on_empty == OnEmpty::BackOff {
            return Err("`on-empty=back-off` needs `ask=retry`: with `ask=failure`, a refused op ends at once; leave one of the two out"
                .to_owned());
        }
        Ok(())
    }
}

part!(RetryBudget: Budget, |config, _| Throttling::new(config));

struct Throttling {
    /// Settings of the budget. `max` and `ratio` are converted to the unit in which the field `tokens` counts.
    config: RetryBudget,
    tokens: f64,
    /// Number of units in which the budget counts one token: 1000 with `ask=failure`, and otherwise 1.
    one: f64,
}

impl Throttling {
    fn new(config: RetryBudget) -> Self {
        // With `ask=failure`, numbers of tokens are truncated to whole thousandths. The added 1e-6 compensates for
        // decimal values whose binary representation is slightly smaller.
        let (one, counted): (f64, fn(f64) -> f64) = match config.ask {
            Ask::Failure => (1000.0, |number| libm::floor(number * 1000.0 + 1e-6)),
            Ask::Retry => (1.0, |number| number),
        };
        let config = RetryBudget { max: counted(config.max), ratio: counted(config.ratio), ..config };
        Self { tokens: config.max, config, one }
    }

    fn suffice(&self) -> bool {
        self.tokens > self.config.max / 2.0
    }
}

impl Budget for Throttling {
    fn ask(&self, _now: Instant, launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        let asks = match self.config.ask {
            Ask::Failure => launch.copy > 0,
            Ask::Retry => launch.copy > 0 || launch.last.is_some(),
        };
        if !asks || self.suffice() {
            return BudgetDecision::Permit;
        }
        BudgetDecision::Shed(match self.config.on_empty {
            OnEmpty::Fail => Advice::Never,
            OnEmpty::BackOff => Advice::None,
        })
    }

    fn permits_retry(&self, _now: Instant, _failed: &FailedOp) -> bool {
        self.config.ask == Ask::Retry || self.suffice()
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        let failed = matches!(outcome.status, Status::Rejected | Status::Failed(_));
        if outcome.status == Status::Succeeded {
            self.tokens = (self.tokens + self.config.ratio).min(self.config.max);
        } else if failed && outcome.classification.is_retriable() || outcome.advice == Advice::Never {
            self.tokens = (self.tokens - self.one).max(0.0);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.tokens = Some(self.tokens / self.one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use crate::testing::{
        Always, CANCELLED, FATAL, OK, REJECTED, Series, TIMEOUT, advised, ended, launch, rejected,
    };

    const NOW: Instant = Instant::ORIGIN;
    const RETRY: Option<Status> = Some(Status::Rejected);

    fn full(config: RetryBudget) -> Throttling {
        Throttling::new(config)
    }

    fn end(tokens: &mut Throttling, outcome: Outcome) {
        tokens.on_ended(NOW, &ended(0, 1), &outcome, Permit::default());
    }

    fn ask(tokens: &Throttling, last: Option<Status>) -> BudgetDecision {
        tokens.ask(NOW, &launch(0, last), &mut Always(0.5))
    }

    #[test]
    fn retries_pass_only_above_half_and_not_at_half() {
        let mut tokens = full(RetryBudget::default());
        for _ in 0..4 {
            end(&mut tokens, REJECTED);
        }
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Permit, "6 tokens");
        end(&mut tokens, TIMEOUT);
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Shed(Advice::Never), "5 tokens");
        end(&mut tokens, OK);
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Permit, "5.1 tokens");
    }

    #[test]
    fn first_attempts_always_pass() {
        let mut tokens = full(RetryBudget::default());
        for _ in 0..100 {
            end(&mut tokens, REJECTED);
        }
        assert_eq!(ask(&tokens, None), BudgetDecision::Permit);
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
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Shed(Advice::Never), "1.5 tokens of 3");
        end(&mut tokens, OK);
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Permit, "2 tokens of 3");
    }

    #[test]
    fn fatal_failures_cost_only_with_the_advice_not_to_retry() {
        let mut tokens = full(RetryBudget { max: 2.0, ..RetryBudget::default() });
        end(&mut tokens, FATAL);
        end(&mut tokens, CANCELLED);
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Permit);
        end(&mut tokens, Outcome { advice: Advice::Never, ..FATAL });
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Shed(Advice::Never));
        end(&mut tokens, advised(Advice::Never));
        assert!(tokens.tokens.abs() < 1e-9);
    }

    #[test]
    fn a_refused_retry_may_back_off_instead_of_ending_its_op() {
        let config = RetryBudget { on_empty: OnEmpty::BackOff, max: 1.0, ..RetryBudget::default() };
        let mut tokens = full(config);
        end(&mut tokens, REJECTED);
        assert_eq!(ask(&tokens, RETRY), BudgetDecision::Shed(Advice::None));
    }

    /// With `ask=failure`, the budget does not decide again when the retry is sent.
    #[test]
    fn ask_failure_decides_once_that_failures_token_is_charged() {
        let mut tokens = full(RetryBudget { ask: Ask::Failure, ..RetryBudget::default() });
        let permitted = |tokens: &Throttling| tokens.permits_retry(NOW, &rejected(1));
        // gRPC's example with 10 tokens and ratio 0.1: the fifth failure leaves 5, which is not more than half.
        let decided: Vec<bool> = (0..5)
            .map(|_| {
                end(&mut tokens, REJECTED);
                permitted(&tokens)
            })
            .collect();
        assert_eq!(decided, [true, true, true, true, false]);
        assert_eq!(
            ask(&tokens, RETRY),
            BudgetDecision::Permit,
            "an op that backs off was permitted to retry"
        );
        end(&mut tokens, OK);
        assert!(permitted(&tokens), "5.1 tokens");
        let empty = Throttling { tokens: 0.0, ..Throttling::new(RetryBudget::default()) };
        assert!(empty.permits_retry(NOW, &rejected(1)), "`ask=retry` has no say at the failure");
    }

    #[test]
    fn copies_need_more_than_half_the_tokens_when_they_are_due() {
        for ask in [Ask::Failure, Ask::Retry] {
            let mut tokens = full(RetryBudget { ask, ..RetryBudget::default() });
            let copy = Candidate { attempt: 2, copy: 1, ..launch(0, None) };
            let gates = [(); 6].map(|()| {
                let gate = tokens.ask(NOW, &copy, &mut Always(0.5));
                end(&mut tokens, REJECTED);
                gate
            });
            let (before, after) = gates.split_at(5);
            assert_eq!(
                (before, after),
                (&[BudgetDecision::Permit; 5][..], &[BudgetDecision::Shed(Advice::Never)][..]),
                "{ask:?}"
            );
        }
    }

    fn grpc(ratio: f64) -> Series {
        let text = "constant:delay=10ms,max-attempts=4,retry-on=503+retry-budget:max=10,ask=failure,ratio=";
        Series::new(&format!("{text}{ratio}"))
    }

    const UNAVAILABLE: Outcome = Outcome { facts: Facts::code(503), ..REJECTED };

    /// Recorded with grpcio 1.85.1: one client with 10 tokens, one op after another.
    #[test]
    fn as_many_ops_are_retried_as_were_recorded() {
        assert_eq!(grpc(0.1).attempts_per_op(50, UNAVAILABLE), [(4, 1), (1, 49)]);

        let mut series = grpc(0.1);
        assert_eq!(series.attempts_per_op(10, UNAVAILABLE), [(4, 1), (1, 9)]);
        assert_eq!(series.attempts_per_op(60, OK), [(1, 60)]);
        assert_eq!(series.attempts_per_op(10, UNAVAILABLE), [(1, 10)], "6 tokens, less one");

        let mut series = grpc(0.1);
        let once = [(); 50].map(|()| series.op(|attempt, _| if attempt == 1 { UNAVAILABLE } else { OK }));
        assert_eq!((&once[..5], &once[5..]), (&[2; 5][..], &[1; 45][..]));

        let mut series = grpc(0.5);
        let every_fifth = [(); 20].map(|()| {
            assert_eq!(series.attempts_per_op(4, OK), [(1, 4)]);
            series.op(|_, _| UNAVAILABLE)
        });
        assert_eq!((&every_fifth[..2], &every_fifth[2..]), (&[4, 3][..], &[2; 18][..]));

        let mut series = grpc(0.1);
        let never = Outcome { advice: Advice::Never, ..UNAVAILABLE };
        assert_eq!(series.attempts_per_op(3, never), [(1, 3)], "which costs tokens, too");
        assert_eq!(series.attempts_per_op(7, UNAVAILABLE), [(2, 1), (1, 6)]);
    }

    #[test]
    fn only_what_the_strategy_would_try_again_costs() {
        let mut series = grpc(0.1);
        assert_eq!(series.attempts_per_op(100, Outcome { facts: Facts::code(500), ..REJECTED }), [(1, 100)]);
        assert!((series.tokens() - 10.0).abs() < f64::EPSILON);
    }

    #[test]
    fn grpc_counts_in_thousandths_and_cuts_what_is_beyond() {
        for (ratio, left) in [(0.29, 9.29), (0.0009, 9.0), (0.1239, 9.123), (1.001, 10.0)] {
            let mut series = grpc(ratio);
            series.op(|attempt, _| if attempt == 1 { UNAVAILABLE } else { OK });
            assert!((series.tokens() - left).abs() < 1e-9, "{ratio}: {}", series.tokens());
        }
    }

    #[test]
    fn what_is_over_cannot_back_off() {
        let error = "retry-budget:ask=failure,on-empty=back-off".parse::<crate::StrategySpec>().unwrap_err();
        assert!(error.to_string().contains("`on-empty=back-off` needs `ask=retry`"), "{error}");
    }
}
