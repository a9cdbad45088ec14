//! Description of a server whose policies are together equivalent to one rate limit. Results of clients are compared with this description.

use std::time::Duration;

use crate::pace::Pace;

/// A rate limit that counts all requests alike and is the server's only limit.
#[derive(Clone, Debug)]
pub struct RateLaw {
    /// Instants at which requests are admitted if they arrive in order as early as possible.
    pub pace: Pace,
    /// Number of requests and the period in which they are admitted, if admission is even. `None` if admission is uneven, as with time
    /// windows.
    pub steady: Option<(u64, Duration)>,
}

impl RateLaw {
    pub(crate) fn steady(pace: Pace, requests: u64, per_nanos: u64) -> Self {
        Self { pace, steady: Some((requests, Duration::from_nanos(per_nanos))) }
    }

    pub(crate) fn of_windows(pace: Pace) -> Self {
        Self { pace, steady: None }
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Instant;

    use super::*;
    use crate::config::Config;

    fn algorithm(policy: &str, schedule: &str) -> Option<RateLaw> {
        let (policy, schedule) = (policy.parse().unwrap(), schedule.parse().unwrap());
        Config { policy, schedule, ..Config::default() }.rate_law()
    }

    fn let_in_ms(policy: &str, count: usize) -> (Vec<u64>, Option<(u64, Duration)>) {
        let mut algorithm = algorithm(policy, "").unwrap_or_else(|| panic!("{policy}"));
        let passes = (0..count).map(|_| algorithm.pace.next(Instant::from_millis(500)).unwrap());
        (passes.map(|at| at.as_nanos() / 1_000_000).collect(), algorithm.steady)
    }

    #[test]
    fn laws_of_a_rate_let_in_their_burst_and_then_their_rate() {
        let ten = Some((10, Duration::from_secs(1)));
        for policy in ["token-bucket:rate=10/s,burst=2", "gcra:rate=10/s,burst=2"] {
            assert_eq!(let_in_ms(policy, 4), (vec![500, 500, 600, 700], ten), "{policy}");
        }
        // One request is served at once, and at most two that wait are admitted, too.
        let (let_in, steady) = let_in_ms("leaky-queue:rate=10/s,burst=2", 5);
        assert_eq!(
            (let_in, steady),
            (vec![500, 500, 500, 600, 700], Some((10_000, Duration::from_secs(1000))))
        );
        // A request that would wait for at most 50 ms is admitted.
        assert_eq!(let_in_ms("reserve:rate=10/s,burst=1", 4), (vec![500, 550, 650, 750], ten));
    }

    #[test]
    fn windows_and_steps_have_no_steady_rate() {
        for policy in [
            "fixed-window:limit=2,window=1s",
            "fixed-window:limit=2,window=1s,align=first",
            "sliding-log:limit=2,window=1s",
        ] {
            let (let_in, steady) = let_in_ms(policy, 3);
            assert_eq!((let_in[1], steady), (500, None), "{policy}");
        }
        assert_eq!(
            let_in_ms("fixed-window:limit=2,window=1s,align=first", 5).0,
            [500, 500, 1500, 1500, 2500]
        );
        assert_eq!(algorithm("token-bucket:refill=stepwise", "").unwrap().steady, None);
    }

    /// Keys, costs, refunds and changing rates leave no single rate limit either.
    #[test]
    fn a_single_rate_limit_allows_only_non_limiting_policies() {
        assert!(algorithm("slow-down:knee=5 then gcra", "").is_some());
        for policy in [
            "concurrency-cap",
            "concurrency:cap=3",
            "gcra then concurrency:cap=3",
            "gcra then token-bucket",
            "gcra:key=address",
            "gcra:cost=2",
            "gcra:charged=answer",
            "gcra:refund=50%",
            "daily",
            "sliding-counter",
            "growing-rate",
            "penalty then gcra",
            "random then gcra",
            "overwhelmed-queue",
        ] {
            assert!(algorithm(policy, "").is_none(), "{policy}");
        }
        assert!(algorithm("gcra", "10s gcra.rate=5/s").is_none());
        assert!(algorithm("gcra", "10s down").is_some());
    }
}
