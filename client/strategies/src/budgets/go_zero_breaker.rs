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

mod latency;
mod window;

use std::time::Duration;

use vocabulary::{Rng, parameters, unit};

use self::latency::Latency;
use self::window::{BUCKETS, CallResult, Window};
use super::refusal::{OnRefusal, was_accepted};
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
        let seen = self.window.at(now);
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

#[cfg(test)]
mod tests;
