//! `go-zero-breaker`: refuses launches at random while many fail or answers are slow, but admits at least one per
//! second.
//!
//! Source: zeromicro/go-zero `core/breaker/{googlebreaker,bucket}.go`, `core/collection/rollingwindow.go` as of 1.7 and
//! later. This breaker is derived from the throttle of the SRE book (`sre-throttle`) and differs from that throttle in
//! three ways:
//!
//! - The more time slices with a failure there are since the last slice with a success, the fewer requests are admitted
//!   per success.
//! - The more time slices with a success there are since the last slice with a failure, the rarer refusals are.
//! - After a second without any launch, one launch is admitted.
//!
//! The rule that refuses launches because of slow answers is from zeromicro/go-zero#5366 (2026). That pull request was
//! not yet merged when it was read. The rule is off unless `timeout` is set.

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::{Rng, parameters, unit};

use super::refusal::{OnRefusal, was_accepted};
use crate::budgets::slices::Slices;
use crate::gauges::REFUSED;
use crate::part_config::part;
use crate::{AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit, Status};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct GoZeroBreaker = "go-zero-breaker" {
        factor: f64 = 1.5, "number of requests allowed per accepted request", 1.0..=1000.0;
        min_factor("least-factor"): f64 = 1.1,
            "number of requests allowed per accepted request if every slice of the window has failures",
            0.0..=1000.0;
        spare: u32 = 5, "number of requests that is always allowed", 0..=1_000_000;
        window: Duration = Duration::from_secs(10),
            "how far back ended attempts are counted", Duration::from_millis(40)..=Duration::from_hours(1);
        pass_every: Duration = Duration::from_secs(1),
            "time without an admitted launch after which the next one is always admitted";
        timeout: Duration = Duration::ZERO,
            "timeout of a request; launches are refused while latencies come near it; 0 turns this off";
        on_refusal: choice OnRefusal = OnRefusal::Fail,
            "whether a refused launch backs off as after a failure, or ends its op";
    }
    summary = "refuses launches at random, but admits one per second, as in go-zero";
    rule = "the last `window` is divided into 40 slices, over which requests and accepted ones are counted; \
        a refused launch counts as a request. p = (requests - spare - k * accepted) / (requests + 1). Here k \
        = factor - (factor - least-factor) * failing / 40, and failing is the number of slices with a \
        failure since the last slice with a success. With `timeout`, p is at least 0.3 * x, where x grows \
        from 0 to 1 as the latency grows from 3 times its usual value to 0.95 * timeout. A launch is \
        admitted if p <= 0, or if none was admitted for `pass-every`. Otherwise it is refused with \
        probability p * (40 - working) / 40, where working is the number of slices with a success since the \
        last slice with a failure";
    source = "zeromicro/go-zero core/breaker/googlebreaker.go, bucket.go";
}

part!(GoZeroBreaker: Budget, |config, _| Breaker::new(config));

struct Breaker {
    window: Window,
    latency: Latency,
    /// Instant of the last launch that was admitted although it could have been refused at random.
    last_pass: Option<Instant>,
    config: GoZeroBreaker,
    refused: f64,
}

impl Breaker {
    fn new(config: GoZeroBreaker) -> Self {
        Self {
            window: Window::over(config.window),
            latency: Latency::new(config.timeout),
            last_pass: None,
            config,
            refused: 0.0,
        }
    }

    /// Returns the probability with which a launch is refused, or `None` if every launch is admitted. While the result
    /// is `None`, launches do not update `last_pass`.
    fn refusal(&self, now: Instant) -> Option<f64> {
        let seen = self.window.seen(now);
        let GoZeroBreaker { factor, min_factor, spare, .. } = self.config;
        let factor = factor - (factor - min_factor) * f64::from(seen.failing) / f64::from(BUCKETS);
        let allowed = f64::from(spare) + factor.max(min_factor) * seen.accepted as f64;
        let by_errors = (seen.requests as f64 - allowed) / (seen.requests + 1) as f64;
        let refusal = by_errors.max(self.latency.refusal());
        let share = f64::from(BUCKETS - seen.working) / f64::from(BUCKETS);
        (refusal > 0.0).then_some(refusal * share)
    }

    fn is_overdue(&self, now: Instant) -> bool {
        self.last_pass.is_some_and(|last| now.since(last) > self.config.pass_every)
    }

    fn count(&mut self, now: Instant, how: CallResult) {
        self.window.count(now, how);
        self.refused = self.refusal(now).unwrap_or(0.0);
    }
}

impl Budget for Breaker {
    fn ask(&self, now: Instant, _launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision {
        match self.refusal(now) {
            Some(refusal) if !self.is_overdue(now) && unit(rng) < refusal => self.config.on_refusal.gate(),
            _ => BudgetDecision::Permit,
        }
    }

    fn on_sent(&mut self, now: Instant, _launch: &Candidate) -> Permit {
        if self.refusal(now).is_some() {
            self.last_pass = Some(now);
        }
        Permit::default()
    }

    fn on_shed(&mut self, now: Instant, _launch: &Candidate) {
        self.count(now, CallResult::Refused);
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        let Some(accepted) = was_accepted(outcome) else { return };
        self.count(now, if accepted { CallResult::Accepted } else { CallResult::Failed });
        if outcome.status == Status::Succeeded {
            self.latency.on_answer(now.since(ended.sent_at));
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&REFUSED, 100.0 * self.refused);
    }
}

// Latency rule of go-zero's breaker: refuses launches while answers take much longer than usual.
//
// Source: zeromicro/go-zero#5366, `core/breaker/googlebreaker.go` (`calcLatencyRatio`, `updateBaselineLatency`,
// `updateCurrentLatency`). Values are whole microseconds, truncated at each step as in the source.

/// Multiple of the usual latency. While the current latency is below this multiple, no launch is refused because of
/// latency.
const ACTIVATION: u64 = 3;
/// Share of the request timeout, as a fraction. If the current latency reaches this share, the probability of refusal
/// is at its maximum.
const CEILING: f64 = 0.95;
/// Weight of a new latency in the usual latency, which is a moving average. The weight is `DECAY` if the new latency is
/// shorter than the usual one, and otherwise `RISE`.
const DECAY: f64 = 0.25;
const RISE: f64 = 0.01;
/// Weight of a new latency in the current latency, which is a moving average.
const CURRENT: f64 = 0.25;
/// Maximum probability that a launch is refused because answers are slow.
const MOST: f64 = 0.3;

/// Timeout of a request, and usual and current latency of successes, all in whole microseconds. A latency of 0 means
/// that no latency has been measured yet.
#[derive(Clone, Copy, Debug, Default)]
struct Latency {
    timeout: u64,
    usual: u64,
    current: u64,
}

impl Latency {
    /// Creates the latency rule. A timeout of zero turns the rule off.
    fn new(timeout: Duration) -> Self {
        Self { timeout: whole_micros(timeout), ..Self::default() }
    }

    /// Records the latency of a successful attempt.
    fn on_answer(&mut self, latency: Duration) {
        let latency = whole_micros(latency);
        if self.timeout == 0 || latency == 0 {
            return;
        }
        let share = if latency < self.usual { DECAY } else { RISE };
        self.usual = mixed(self.usual, latency, share);
        self.current = mixed(self.current, latency, CURRENT);
    }

    fn refusal(&self) -> f64 {
        let threshold = self.usual.saturating_mul(ACTIVATION);
        let ceiling = cut(self.timeout as f64 * CEILING);
        if self.usual == 0 || self.current < threshold || ceiling <= threshold {
            return 0.0;
        }
        let way = (self.current - threshold) as f64 / (ceiling - threshold) as f64;
        way.min(1.0) * MOST
    }
}

fn mixed(old: u64, new: u64, share: f64) -> u64 {
    if old == 0 { new } else { cut(share * new as f64 + (1.0 - share) * old as f64) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut, as Go does; it is not below 0"
)]
fn cut(micros: f64) -> u64 {
    micros as u64
}

fn whole_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Sliding window of go-zero's breaker. It counts recent requests. It also counts the time slices with a failure since
/// the last success, and those with a success since the last failure.
///
/// Source: zeromicro/go-zero `core/breaker/bucket.go`, `googlebreaker.go` (`history`).
const BUCKETS: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallResult {
    Accepted,
    Failed,
    Refused,
}

type Window = Slices<Bucket, { BUCKETS as usize }>;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    accepted: u64,
    failed: u64,
    refused: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    requests: u64,
    accepted: u64,
    /// Number of time slices with a failure since the last slice with a success.
    failing: u32,
    /// Number of time slices with a success since the last slice with a failure.
    working: u32,
}

impl Window {
    fn count(&mut self, now: Instant, how: CallResult) {
        let bucket = self.at(now);
        let counter = match how {
            CallResult::Accepted => &mut bucket.accepted,
            CallResult::Failed => &mut bucket.failed,
            CallResult::Refused => &mut bucket.refused,
        };
        *counter += 1;
    }

    fn seen(&self, now: Instant) -> Seen {
        let mut seen = Seen::default();
        for Bucket { accepted, failed, refused } in self.before(now) {
            seen.requests += accepted + failed + refused;
            seen.accepted += accepted;
            seen.working = if *failed > 0 { 0 } else { seen.working + u32::from(*accepted > 0) };
            seen.failing = if *accepted > 0 { 0 } else { seen.failing + u32::from(*failed > 0) };
        }
        seen
    }
}
