//! `finagle-budget`: admits retries up to a share of recent requests, from a leaky bucket whose tokens expire.
//!
//! Source: twitter/finagle `finagle-core/src/main/scala/com/twitter/finagle/service/RetryBudget.scala`, based on
//! twitter/util `util-core/src/main/scala/com/twitter/util/{TokenBucket,WindowedAdder}.scala`. As in the source, times
//! are in whole milliseconds, and deposits and withdrawals are whole numbers of tokens.

use std::time::Duration;

use vocabulary::parameters;

use super::deposits::{Deposit, Deposits, reserve};
use super::windowed_adder::WindowedAdder;
use crate::part_config::part;

/// Number of tokens that each request deposits. The number is large, because a retry must cost at least one whole token
/// even if the share of retries is above 1.
const DEPOSIT: f64 = 1000.0;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct FinagleBudget = "finagle-budget" {
        ttl: Duration = Duration::from_secs(10),
            "time after which the tokens deposited by an op expire",
            Duration::from_secs(1)..=Duration::from_mins(1);
        reserve: u32 = 10,
            "number of retries per second that is allowed in addition to `share`", 0..=1_000_000;
        share: f64 = 0.2, "number of retries allowed per request", 0.0..=DEPOSIT;
    }
    summary = "limits retries to a share of recent requests, as in Finagle";
    rule = "each op deposits 1000 tokens, which expire after `ttl` (measured in tenths of it). A retry \
        withdraws ⌊1000 / share⌋ tokens when the attempt before it fails; if there are too few, the op is \
        given up. In addition, tokens for reserve * ttl retries are always available in each `ttl`";
    source = "twitter/finagle RetryBudget.scala; twitter/util TokenBucket.scala, WindowedAdder.scala";
}

part!(FinagleBudget: Budget, |config, _| config.start());

impl FinagleBudget {
    #[expect(clippy::cast_possible_truncation, reason = "Finagle cuts to whole tokens, 32 bits of them")]
    fn start(&self) -> Deposits<WindowedAdder<9>> {
        let (deposit, withdrawal) = match self.share {
            0.0 => (0, 1),
            share => (DEPOSIT as i64, i64::from((DEPOSIT / share) as i32)),
        };
        Deposits {
            bucket: WindowedAdder::over(self.ttl),
            deposit,
            withdrawal,
            reserve: reserve(self.reserve, self.ttl, withdrawal),
            when: Deposit::Request,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instant;

    fn budget(ttl: u64, reserve: u32, share: f64) -> Deposits<WindowedAdder<9>> {
        FinagleBudget { ttl: Duration::from_secs(ttl), reserve, share }.start()
    }

    fn retried(budget: &mut Deposits<WindowedAdder<9>>, requests: u32) -> u32 {
        (0..requests).map(|_| u32::from(budget.fails(Instant::ORIGIN))).sum()
    }

    /// Finagle's `RetryBudgetTest`: 10 000 requests fail while the clock does not advance.
    #[test]
    fn retries_are_the_share_of_10000_requests_plus_the_reserve() {
        for (ttl, reserve, share) in [
            (60, 0, 0.1),
            (60, 0, 0.5),
            (60, 0, 0.25),
            (60, 0, 0.75),
            (60, 0, 0.99),
            (60, 0, 0.999),
            (60, 0, 0.9999),
            (60, 0, 0.01),
            (60, 0, 0.001),
            (60, 0, 0.0001),
            (1, 10, 0.0),
            (2, 5, 0.0),
            (1, 10, 0.1),
            (2, 5, 0.5),
        ] {
            let mut budget = budget(ttl, reserve, share);
            let least = i64::from(reserve) * ttl.cast_signed();
            assert_eq!(budget.balance(), least, "{share}");
            let wanted = libm::floor(10_000.0 * share) + least as f64;
            let retried = f64::from(retried(&mut budget, 10_000));
            assert!((retried - wanted).abs() <= 1.0, "{share}: {retried} instead of {wanted}");
        }
    }

    #[test]
    fn above_one_there_are_several_retries_for_a_request() {
        let mut budget = budget(60, 0, 2.0);
        for _ in 0..10_000 {
            budget.fails(Instant::ORIGIN);
        }
        assert_eq!(budget.balance(), 10_000, "of 20 000 half are drawn");
    }

    #[test]
    fn without_share_and_reserve_nothing_is_ever_retried() {
        assert_eq!(retried(&mut budget(10, 0, 0.0), 1000), 0);
    }
}
