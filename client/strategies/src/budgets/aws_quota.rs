//! `aws-quota`: the retry quota of the AWS SDKs. Each retry takes tokens from the quota, and each success refunds some.
//!
//! Source: boto/botocore `botocore/retries/{standard,quota}.py`; smithy-lang/smithy-rs
//! `rust-runtime/aws-smithy-runtime/src/client/retries/{token_bucket.rs,strategy/standard.rs}`. The defaults are those
//! of retry spec 2.1. In spec 2.0 a retry costs 5 tokens, but 10 after a timeout
//! (`retry-cost=5,throttled-cost=5,timeout-cost=10`). The Rust version of spec 2.0 charges 10 tokens after every
//! transient error, including a 5xx that is classified by its status (`retry-cost=10`).
//!
//! The cost of a retry is charged when the attempt before it fails. If the quota has too few tokens, the op ends at
//! that instant. For long-polling operations, the op ends after the back-off instead. When an op succeeds, only the
//! cost of its last retry is refunded.

use vocabulary::{Rng, choices, parameters};

use crate::gauges::TOKENS;
use crate::part_config::part;
use crate::{
    AttemptEnd, Budget, BudgetDecision, Candidate, Classification, FailedOp, Failure, Gauges, Instant,
    Outcome, Permit, Status,
};

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum LongPoll {
        No = "false",
        Yes = "true",
    }
}

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct AwsQuota = "aws-quota" {
        capacity: u32 = 500, "initial and maximum number of tokens", 0..=1_000_000;
        retry_cost: u32 = 14,
            "tokens that a retry costs after a transient failure (no throttling and no timeout)", 0..=1000;
        throttled_cost: u32 = 5, "tokens that a retry costs after a throttling answer", 0..=1000;
        timeout_cost: u32 = 14, "tokens that a retry costs after a timeout", 0..=1000;
        long_poll: choice LongPoll = LongPoll::No,
            "whether an op that the quota refuses first waits as before a retry, and ends only then";
    }
    summary = "each retry costs tokens, which successes refund, as in the AWS SDKs";
    rule = "the quota starts with `capacity` tokens and never has more. After a failure, the retry is \
        charged at once; if too few tokens are left, the op is given up. A success refunds the cost of its \
        op's last retry, or 1 token if the op had no retry";
    source = "boto/botocore botocore/retries/{standard,quota}.py; smithy-lang/smithy-rs \
        rust-runtime/aws-smithy-runtime/src/client/retries/token_bucket.rs";
}

part!(AwsQuota: Budget, |config, _| Quota { tokens: config.capacity, config });

struct Quota {
    config: AwsQuota,
    tokens: u32,
}

impl Quota {
    fn cost(&self, status: Status, classification: Classification) -> u32 {
        match (classification, status) {
            (Classification::Throttled, _) => self.config.throttled_cost,
            (_, Status::Failed(Failure::Timeout)) => self.config.timeout_cost,
            _ => self.config.retry_cost,
        }
    }

    fn cost_after(&self, failed: &FailedOp) -> u32 {
        self.cost(failed.outcome.status, failed.outcome.classification)
    }
}

impl Budget for Quota {
    fn ask(&self, _now: Instant, _launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        BudgetDecision::Permit
    }

    fn permits_retry(&self, _now: Instant, failed: &FailedOp) -> bool {
        self.tokens >= self.cost_after(failed)
    }

    fn refuses_after_the_wait(&self) -> bool {
        self.config.long_poll == LongPoll::Yes
    }

    fn on_retry(&mut self, _now: Instant, failed: &FailedOp) {
        self.tokens = self.tokens.saturating_sub(self.cost_after(failed));
    }

    fn on_sent(&mut self, _now: Instant, launch: &Candidate) -> Permit {
        Permit(match launch.last.filter(|_| launch.attempt > 1) {
            None => 1,
            Some(last) => self.cost(last, launch.last_classification),
        })
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        if outcome.status == Status::Succeeded {
            self.tokens = self.tokens.saturating_add(permit.0).min(self.config.capacity);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&TOKENS, f64::from(self.tokens));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use crate::testing::{OK, REJECTED, Series, TIMEOUT};

    /// 503 without details. `THROTTLED` is the answer that these tests classify as throttling.
    const UNAVAILABLE: Outcome = Outcome { facts: Facts::code(503), ..REJECTED };
    const THROTTLED: Outcome = Outcome { facts: Facts::code(429), ..REJECTED };

    /// Quota of retry spec 2.1; `v2_0` is spec 2.0, with the costs of botocore or Rust.
    fn v2_1(max_attempts: u32, capacity: u32) -> Series {
        Series::new(&format!(
            "constant:delay=1s,max-attempts={max_attempts},throttle-on=429+aws-quota:capacity={capacity}"
        ))
    }

    fn v2_0(max_attempts: u32, retry_cost: u32, capacity: u32) -> Series {
        Series::new(&format!(
            "constant:delay=1s,max-attempts={max_attempts},throttle-on=429+aws-quota:capacity={capacity},\
             retry-cost={retry_cost},timeout-cost=10"
        ))
    }

    /// Returns the tokens after each retry of an op with these outcomes was sent, and at the end of the op.
    fn left(mut series: Series, outcomes: &[Outcome]) -> Vec<f64> {
        left_of(&mut series, outcomes)
    }

    fn left_of(series: &mut Series, outcomes: &[Outcome]) -> Vec<f64> {
        let mut left = Vec::new();
        series.op(|attempt, series| {
            left.extend((attempt > 1).then(|| series.tokens()));
            outcomes[attempt as usize - 1]
        });
        left.push(series.tokens());
        left
    }

    /// smithy-rs, tests of `strategy/standard.rs` and of `RetrySpec::v2_1`.
    #[test]
    fn the_vectors_of_smithy_come_out() {
        let down = [UNAVAILABLE; 9];
        let then_ok = [UNAVAILABLE, UNAVAILABLE, OK];
        assert_eq!(left(v2_0(5, 5, 500), &then_ok), [495.0, 490.0, 495.0]);
        assert_eq!(left(v2_0(5, 5, 500), &down), [495.0, 490.0, 485.0, 480.0, 480.0]);
        assert_eq!(left(v2_0(5, 5, 5), &down), [0.0, 0.0]);
        assert_eq!(left(v2_0(5, 10, 100), &then_ok), [90.0, 80.0, 90.0], "transient errors in Rust");

        assert_eq!(left(v2_1(3, 500), &then_ok), [486.0, 472.0, 486.0]);
        assert_eq!(left(v2_1(3, 500), &down), [486.0, 472.0, 472.0]);
        assert_eq!(left(v2_1(5, 14), &down), [0.0, 0.0]);
        assert_eq!(left(v2_1(5, 0), &down), [0.0]);
        assert_eq!(left(v2_1(5, 20), &down), [6.0, 6.0]);
        assert_eq!(left(v2_1(3, 500), &[THROTTLED, OK]), [495.0, 500.0]);
        assert_eq!(left(v2_1(5, 500), &down), [486.0, 472.0, 458.0, 444.0, 444.0]);
        let mut series = v2_1(3, 30);
        assert_eq!(left_of(&mut series, &then_ok), [16.0, 2.0, 16.0]);
        assert_eq!(left_of(&mut series, &[UNAVAILABLE, OK]), [2.0, 16.0]);
    }

    /// Recorded with botocore 1.44.5 and the AWS SDK for Rust (sqs 1.119.0): ops one after another, all of which
    /// fail.
    #[test]
    fn as_many_ops_are_retried_as_were_recorded() {
        assert_eq!(v2_1(3, 500).attempts_per_op(200, UNAVAILABLE), [(3, 17), (2, 1), (1, 182)]);
        assert_eq!(v2_1(3, 500).attempts_per_op(200, THROTTLED), [(3, 50), (1, 150)]);
        assert_eq!(v2_1(4, 500).attempts_per_op(200, UNAVAILABLE), [(4, 11), (3, 1), (1, 188)]);
        assert_eq!(v2_1(4, 500).attempts_per_op(200, THROTTLED), [(4, 33), (2, 1), (1, 166)]);
        assert_eq!(v2_0(3, 10, 500).attempts_per_op(120, UNAVAILABLE), [(3, 25), (1, 95)]);
        let mut throttled = Series::new(
            "constant:max-attempts=3,throttle-on=429+aws-quota:retry-cost=10,throttled-cost=5,timeout-cost=10",
        );
        assert_eq!(throttled.attempts_per_op(120, THROTTLED), [(3, 50), (1, 70)]);
    }

    /// Recorded with botocore and JavaScript: 503 for 40 ops, 20 successes, 503 again; and ops that need one retry
    /// each.
    #[test]
    fn successes_give_back_what_was_recorded() {
        let mut series = v2_1(3, 500);
        assert_eq!(series.attempts_per_op(40, UNAVAILABLE), [(3, 17), (2, 1), (1, 22)]);
        assert_eq!(series.attempts_per_op(20, OK), [(1, 20)]);
        assert_eq!(series.attempts_per_op(40, UNAVAILABLE), [(3, 1), (1, 39)]);
        let mut series = v2_1(3, 500);
        for _ in 0..100 {
            assert_eq!(series.op(|attempt, _| if attempt == 1 { UNAVAILABLE } else { OK }), 2);
        }
    }

    /// Timeouts may cost more than other failures.
    #[test]
    fn a_refund_is_the_cost_of_the_last_retry() {
        assert_eq!(left(v2_1(3, 500), &[UNAVAILABLE, THROTTLED, OK]), [486.0, 481.0, 486.0]);
        assert_eq!(left(v2_0(3, 5, 500), &[TIMEOUT, UNAVAILABLE, OK]), [490.0, 485.0, 490.0]);
        assert_eq!(left(v2_0(3, 5, 500), &[UNAVAILABLE, TIMEOUT, OK]), [495.0, 485.0, 495.0]);
    }

    #[test]
    fn an_empty_quota_ends_ops_at_once_or_after_a_long_poll_wait() {
        for (options, waited) in [("", 0), (",long-poll=true", 1)] {
            let mut series = Series::new(&format!("constant:delay=1s+aws-quota:capacity=0{options}"));
            assert_eq!(series.op(|_, _| UNAVAILABLE), 1);
            assert_eq!(series.now, Instant::from_millis(1000 * waited), "{options}");
        }
    }
}
