//! Convergence of a client to the server's rate limit: by how much the client exceeded the limit, and how soon it used the full rate. In
//! this module, the server's rate-limiting algorithm is called a rate law.
//!
//! *Overshoot*: a copy of the rate-limiting algorithm processes all attempts in the order of sending, and admits each as soon as possible.
//! An attempt exceeds the limit if it was sent but is not yet admitted by the copy. Such attempts are like attempts in flight beyond a
//! concurrency cap.
//!
//! *Full rate*: the rate of successes is measured over a period of time. The period is the time in which the rate limit admits twenty
//! requests. If one undisturbed attempt takes longer, the period is the duration of that attempt. With twenty requests, a single request
//! changes the rate by only 5 %, so it does not decide.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::{Instant, whole_nanos};

use super::convergence::{Convergence, NEAR};
use crate::lower_bound::Pace;

/// Minimum period over which a success rate is measured, as the number of requests that the server's rate limit admits in that period.
const TOLD_BY: u64 = 20;

/// Maximum number of waiting requests that are stored. It also limits the number of successes from which a rate is measured.
const MOST: usize = 1 << 16;

/// Rate-limiting algorithm of a server whose only policy is this rate limit.
#[derive(Clone, Debug)]
pub struct RateLaw {
    /// Instants at which the rate limit admits requests, if it admits them in order and each as soon as possible.
    pub pace: Box<dyn Pace>,
    /// Rate at which the limit admits requests, if that rate is constant. `None` for a limit that counts in windows, because such a limit
    /// admits requests in bursts.
    pub steady: Option<SteadyRate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyRate {
    /// Number of requests that are admitted in the time `per`, at least 1.
    pub requests: u64,
    /// Time in which `requests` requests are admitted, greater than zero.
    pub per: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct RateFigures {
    pub law_per_s: Option<f64>,
    pub convergence_s: Option<f64>,
    pub overshoot: u64,
    pub rejected_before_convergence: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct RateCourse {
    /// Instants at which the rate limit admits requests. `None` once `waiting` has reached its maximum length, because greater lengths
    /// are not reported.
    pace: Option<Box<dyn Pace>>,
    /// Sent attempts that the server's rate limit would not have admitted yet.
    waiting: VecDeque<Instant>,
    most_waiting: u64,
    rate: Option<Rate>,
    rejected: u64,
}

impl RateCourse {
    pub(super) fn new(law: RateLaw, undisturbed_attempt: Duration) -> Self {
        let rate = law.steady.map(|steady| Rate::new(steady, undisturbed_attempt));
        Self { pace: Some(law.pace), rate, ..Self::default() }
    }

    pub(super) fn on_sent(&mut self, at: Instant) {
        let Some(pace) = &mut self.pace else { return };
        while self.waiting.front().is_some_and(|passes| *passes <= at) {
            self.waiting.pop_front();
        }
        // A request that the rate limit never admits (`None`) waits for ever.
        let passes = pace.next(at).unwrap_or(Instant::FAR_FUTURE);
        if passes > at {
            self.waiting.push_back(passes);
            self.most_waiting = self.most_waiting.max(self.waiting.len() as u64);
        }
        if self.waiting.len() >= MOST {
            (self.pace, self.waiting) = (None, VecDeque::new());
        }
    }

    pub(super) fn on_success(&mut self, at: Instant) {
        if let Some(rate) = &mut self.rate {
            rate.on_success(at, self.rejected);
        }
    }

    pub(super) fn on_rejected(&mut self) {
        self.rejected += 1;
    }

    pub(super) fn figures(&self, first_arrival: Option<Instant>, end: Option<Instant>) -> RateFigures {
        let rate = self.rate.clone().map(|mut rate| {
            rate.pass(end.unwrap_or(rate.now), self.rejected);
            rate
        });
        let converged = rate.as_ref().and_then(|rate| rate.convergence.converged);
        RateFigures {
            law_per_s: rate.map(|rate| rate.law_per_s),
            convergence_s: converged.map(|fit| fit.s_after(first_arrival)),
            overshoot: self.most_waiting,
            rejected_before_convergence: converged.map_or(self.rejected, |fit| fit.rejected_before),
        }
    }
}

#[derive(Clone, Debug)]
struct Rate {
    law_per_s: f64,
    over: Duration,
    expected: f64,
    /// Latest successes, from which the rate is measured. The list is no longer than necessary to prove that the rate is too high.
    latest: VecDeque<Instant>,
    now: Instant,
    convergence: Convergence,
}

impl Rate {
    fn new(steady: SteadyRate, undisturbed_attempt: Duration) -> Self {
        let per_nanos = u128::from(whole_nanos(steady.per));
        let time_of = |requests: u64| {
            let nanos = (u128::from(requests) * per_nanos).div_ceil(u128::from(steady.requests.max(1)));
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let law_per_s = steady.requests as f64 / steady.per.as_secs_f64();
        let twenty = time_of(TOLD_BY);
        let over = undisturbed_attempt.min(time_of(MOST as u64 / 2)).max(twenty);
        Self {
            law_per_s,
            over,
            expected: law_per_s * over.as_secs_f64(),
            latest: VecDeque::new(),
            now: Instant::ORIGIN,
            convergence: Convergence::new(undisturbed_attempt.saturating_mul(5).max(twenty)),
        }
    }

    fn on_success(&mut self, at: Instant, rejected: u64) {
        if self.convergence.converged.is_some() {
            return;
        }
        self.pass(at, rejected);
        // If the stored successes already prove that the rate is too high, the oldest of them is not needed any more.
        if self.latest.len() as f64 > self.expected * (1.0 + NEAR) {
            self.latest.pop_front();
        }
        self.latest.push_back(self.now);
        self.judge(self.now, rejected);
    }

    /// Advances the time to `at`. Each success that leaves the measured period until then is dropped at the instant at which it leaves.
    fn pass(&mut self, at: Instant, rejected: u64) {
        while let Some(leaves) =
            self.latest.front().map(|success| *success + self.over).filter(|leaves| *leaves <= at)
        {
            self.convergence.reach(leaves);
            self.latest.pop_front();
            self.judge(leaves, rejected);
        }
        self.convergence.reach(at);
        self.now = self.now.max(at);
    }

    fn judge(&mut self, at: Instant, rejected: u64) {
        // The number of successes is a whole number. So the small tolerance only compensates for the rounding of `expected`.
        let fits = (self.latest.len() as f64 - self.expected).abs() <= NEAR * self.expected + 1e-6;
        self.convergence.judge(at, fits, rejected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pace of one request every ten milliseconds, none of them saved up.
    #[derive(Clone, Debug)]
    struct EveryTenth(Instant);

    impl Pace for EveryTenth {
        fn next(&mut self, from: Instant) -> Option<Instant> {
            let passes = self.0.max(from);
            self.0 = passes + Duration::from_millis(10);
            Some(passes)
        }

        fn another(&self) -> Box<dyn Pace> {
            Box::new(self.clone())
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Creates a course for a law of 100/s. Twenty requests pass in 200 ms, and five undisturbed attempts take 500 ms.
    fn course() -> RateCourse {
        let steady = Some(SteadyRate { requests: 100, per: Duration::from_secs(1) });
        RateCourse::new(RateLaw { pace: Box::new(EveryTenth(at(0))), steady }, Duration::from_millis(100))
    }

    fn convergence_s(successes_ms: impl IntoIterator<Item = u64>, end: u64) -> Option<f64> {
        let mut course = course();
        for ms in successes_ms {
            course.on_success(at(ms));
        }
        course.figures(Some(at(0)), Some(at(end))).convergence_s
    }

    #[test]
    fn what_was_sent_and_may_not_pass_yet_is_beyond_the_law() {
        let mut course = course();
        let mut sent = |ms| {
            course.on_sent(at(ms));
            course.figures(None, None).overshoot
        };
        // The first four attempts pass at 0, 10, 20 and 30 ms. At 25 ms one is waiting, and the new one waits, too.
        assert_eq!([0, 0, 0, 0, 25].map(&mut sent), [0, 1, 2, 3, 3]);
        // At 29 ms three are waiting, for 30, 40 and 50 ms. Then there are four.
        assert_eq!([29, 29].map(&mut sent), [3, 4]);
        assert_eq!(sent(1000), 4);
    }

    #[test]
    fn sends_at_the_limited_rate_do_not_overshoot() {
        let mut course = course();
        (0..100).for_each(|request| course.on_sent(at(request * 10)));
        assert_eq!(course.figures(None, None).overshoot, 0);
    }

    #[test]
    fn the_overshoot_of_a_flood_is_capped_and_uses_no_memory() {
        let mut course = course();
        (0..100_000).for_each(|_| course.on_sent(at(0)));
        assert_eq!((course.figures(None, None).overshoot, course.waiting.capacity()), (65_536, 0));
        (0..100_000).for_each(|_| course.on_success(at(0)));
        assert!(course.rate.unwrap().latest.len() <= 23);
    }

    #[test]
    fn a_rate_converges_when_it_has_fitted_for_five_attempts() {
        // With the 18th success, at 170 ms, there are 18 in 200 ms.
        let steady = || (0..100).map(|request| request * 10);
        assert_eq!(convergence_s(steady(), 669), Some(0.17), "successes went on");
        assert_eq!(convergence_s(steady().take_while(|ms| *ms < 670), 669), None);
        assert_eq!(convergence_s(steady().take_while(|ms| *ms < 670), 670), Some(0.17));
        // A burst is over when none of it counts any more.
        assert_eq!(convergence_s((0..40).map(|_| 0).chain(steady()), 990), Some(0.2));
        // A pause of 50 ms removes five successes.
        let with_pause = steady().map(|ms| if ms < 300 { ms } else { ms + 50 });
        assert_eq!(convergence_s(with_pause, 1040), Some(0.52));
        // A rate of 80/s is never near.
        assert_eq!(convergence_s((0..100).map(|request| request * 25 / 2), 1250), None);
    }

    #[test]
    fn rejections_count_until_then() {
        let mut course = course();
        for request in 0..100 {
            course.on_rejected();
            course.on_success(at(request * 10));
        }
        let figures = course.figures(Some(at(0)), Some(at(990)));
        assert_eq!((figures.rejected_before_convergence, figures.law_per_s), (18, Some(100.0)));
    }

    #[test]
    fn a_law_of_windows_has_no_rate_to_converge_to() {
        let law = RateLaw { pace: Box::new(EveryTenth(at(0))), steady: None };
        let mut course = RateCourse::new(law, Duration::from_millis(100));
        (0..100).for_each(|request| course.on_success(at(request * 10)));
        course.on_rejected();
        let expected = RateFigures { rejected_before_convergence: 1, ..RateFigures::default() };
        assert_eq!(course.figures(Some(at(0)), Some(at(990))), expected);
    }

    /// The window of a fast rate is short enough to keep its requests.
    #[test]
    fn the_rate_window_covers_at_least_20_requests() {
        let over = |requests, per| {
            let rate =
                Rate::new(SteadyRate { requests, per: Duration::from_secs(per) }, Duration::from_secs(1));
            (rate.over, rate.convergence.settled_after)
        };
        assert_eq!(over(1, 1), (Duration::from_secs(20), Duration::from_secs(20)));
        assert_eq!(over(100, 1), (Duration::from_secs(1), Duration::from_secs(5)));
        assert_eq!(over(32_768_000, 1), (Duration::from_millis(1), Duration::from_secs(5)));
    }
}
