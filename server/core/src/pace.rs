//! Earliest instants at which a rate algorithm admits a given number of requests, whatever the client does. These instants bound the
//! results of every run. Servers whose policies are together equivalent to one rate limit are described here, too: results of clients are
//! compared with this description.

use std::fmt;
use std::time::Duration;

use vocabulary::Instant;

use crate::policies::{Decision, RateAlgorithm};

/// Admission times of a rate algorithm (`RateAlgorithm`) for a client that always sends at the earliest possible instant.
///
/// No other client's requests pass sooner, in whatever order they arrive. The reason is that with rate algorithms, a request that passes as
/// early as possible never delays the next request. Refunds change nothing: requests that take the place of refunded ones do not pass
/// sooner either (see `RateAlgorithm::refund`).
#[derive(Clone, Debug)]
pub struct Pace(Box<dyn Passing>);

impl Pace {
    /// Creates the fastest pace at which a rate algorithm can admit requests. The algorithm starts in its initial state, in which nothing
    /// is charged.
    pub(crate) fn new(algorithm: impl RateAlgorithm) -> Self {
        Self::probing(algorithm, None)
    }

    /// Creates the pace of a rate algorithm that delays some of the requests that it admits. The pace counts a request when it is admitted,
    /// not after its delay. A rejection advises the wait after which a request would pass without delay. The algorithm admits the request
    /// `early` before that instant, and delays it.
    pub(crate) fn of_admissions(algorithm: impl RateAlgorithm, early: Duration) -> Self {
        Self::probing(algorithm, Some(early))
    }

    fn probing(algorithm: impl RateAlgorithm, early: Option<Duration>) -> Self {
        let state = algorithm.fresh();
        Self(Box::new(Probe { algorithm, state, at: Instant::ORIGIN, early }))
    }

    /// Creates the pace of clock-aligned windows with `limit` requests each. The run may begin in the middle of a window. Therefore any
    /// period of the run may touch two windows more than fit into it, one at each end.
    pub(crate) fn of_windows(limit: u32, window: Duration) -> Self {
        Self(Box::new(Windows { limit, window, began: None, passed: 0, at: Instant::ORIGIN }))
    }

    /// Returns the earliest instant, not before `from`, at which one more request passes. `None` if no further request ever passes. The
    /// returned instants never decrease from call to call.
    pub fn next(&mut self, from: Instant) -> Option<Instant> {
        self.0.next(from)
    }
}

#[derive(Clone, Debug)]
struct Windows {
    limit: u32,
    window: Duration,
    began: Option<Instant>,
    passed: u64,
    at: Instant,
}

impl Passing for Windows {
    fn next(&mut self, from: Instant) -> Option<Instant> {
        let began = *self.began.get_or_insert(from);
        // Number of used windows of the rate limit that certainly lie completely within the run. The first and the last used window may lie
        // only partly within the run.
        let whole = u128::from((self.passed / u64::from(self.limit)).saturating_sub(1));
        self.passed += 1;
        let over = u64::try_from(whole * self.window.as_nanos()).ok()?;
        self.at = self.at.max(from).max(began + Duration::from_nanos(over));
        Some(self.at)
    }

    fn another(&self) -> Box<dyn Passing> {
        Box::new(self.clone())
    }
}

trait Passing: fmt::Debug + Send + Sync {
    fn next(&mut self, from: Instant) -> Option<Instant>;
    fn another(&self) -> Box<dyn Passing>;
}

impl Clone for Box<dyn Passing> {
    fn clone(&self) -> Self {
        self.another()
    }
}

#[derive(Clone, Debug)]
struct Probe<L: RateAlgorithm> {
    algorithm: L,
    state: L::State,
    at: Instant,
    early: Option<Duration>,
}

impl<L: RateAlgorithm> Passing for Probe<L> {
    fn next(&mut self, from: Instant) -> Option<Instant> {
        self.at = self.at.max(from);
        // After a rejection, the request is tried again when the returned wait is over. If the algorithm returns exact waits, the second
        // try succeeds. Other algorithms may return a wait that is too short, and need further tries.
        for _ in 0..1000 {
            self.algorithm.advance(&mut self.state, self.at);
            match self.algorithm.ask(&self.state, self.at, 1) {
                Decision::PassAfter(_) if self.early.is_none() => return None,
                Decision::Pass | Decision::PassAfter(_) => {
                    self.algorithm.charge(&mut self.state, self.at, 1);
                    return Some(self.at);
                }
                Decision::Reject(Some(wait)) => {
                    self.at = self.at + wait.saturating_sub(self.early.unwrap_or_default());
                }
                Decision::Reject(None) | Decision::Queue => return None,
            }
        }
        Some(self.at)
    }

    fn another(&self) -> Box<dyn Passing> {
        Box::new(self.clone())
    }
}

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
    use super::*;
    use crate::{Config, LeastCosts};

    fn passes_ms(policy: &str, from_ms: u64, count: usize) -> Vec<u64> {
        let config = Config { policy: policy.parse().unwrap(), ..Config::default() };
        let mut paces = LeastCosts::new(&config, 1).expect("something is proven").paces();
        let [pace] = &mut paces[..] else { panic!("one law") };
        let from = Instant::from_millis(from_ms);
        (0..count).map(|_| pace.next(from).unwrap().as_nanos() / 1_000_000).collect()
    }

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        for algorithm in ["token-bucket", "gcra"] {
            assert_eq!(
                passes_ms(&format!("{algorithm}:rate=10/s,burst=2"), 500, 4),
                [500, 500, 600, 700],
                "{algorithm}"
            );
        }
        assert_eq!(passes_ms("sliding-log:limit=2,window=1s", 500, 5), [500, 500, 1500, 1500, 2500]);
    }

    #[test]
    fn two_windows_may_adjoin_because_their_start_is_unknown() {
        let twice = [500, 500, 500, 500, 1500, 1500, 2500];
        assert_eq!(passes_ms("fixed-window:limit=2,window=1s", 500, 7), twice);
        assert_eq!(passes_ms("fixed-window:limit=2,window=1s,align=epoch", 500, 7), twice);
        // A refill step may follow directly after the burst.
        assert_eq!(
            passes_ms("token-bucket:rate=1/s,burst=2,refill=stepwise", 500, 5),
            [500, 500, 500, 1000, 2000]
        );
    }

    #[test]
    fn no_pace_is_proven_if_it_depends_on_clients_or_costs() {
        for policy in [
            "gcra:key=address",
            "gcra:cost=header:x-cost|1",
            "gcra:cost=0",
            "gcra:refund=50%",
            "gcra:charged=answer",
            "sliding-counter",
            "fixed-window:align=first",
            "random",
            "penalty then random",
        ] {
            let config = Config { policy: policy.parse().unwrap(), ..Config::default() };
            assert!(LeastCosts::new(&config, 1).is_none(), "{policy}");
        }
    }

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
