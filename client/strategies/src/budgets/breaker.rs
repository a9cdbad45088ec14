//! `breaker`: opens after consecutive failures and then sends nothing for a while. One probe then decides whether it
//! closes.
//!
//! Source: linkerd's consecutive-failures breaker (`consecutive_failures.rs`). After N consecutive failures the breaker
//! opens: nothing is sent for the duration of a back-off. Then one probe is sent. If the probe succeeds, the breaker
//! closes and admits everything. If it fails, the breaker opens for the next longer duration. The breaker ignores the
//! outcome of attempts that were sent before its last change of phase (closed, open or probing).

use std::time::Duration;

use vocabulary::{Rng, parameters};

use super::phase::Phase;
use crate::delay::grown;
use crate::part_config::part;
use crate::{
    Advice, AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit, Status,
};
use vocabulary::choices;

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum WhenOpen {
        Wait = "wait",
        Shed = "shed",
    }
}

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct BreakerConfig = "breaker" {
        failures: u32 = 5, "number of consecutive failures that open the breaker", 1..=u32::MAX;
        open: Duration = Duration::from_secs(1),
            "time for which the breaker stays open before the first probe";
        factor: f64 = 2.0, "factor by which the open time grows after each failed probe", 1.0..=1000.0;
        cap: Duration = Duration::from_secs(30),
            "longest time for which the breaker stays open before a probe";
        when_open: choice WhenOpen = WhenOpen::Wait,
            "whether launches wait for the open breaker, or fail and back off";
    }
    summary = "circuit breaker: opens after consecutive failures";
    rule = "the breaker is closed at first. `failures` consecutive rejections or retriable failures open it. \
        While open, it admits nothing for min(cap, open * factor^(k-1)), where k counts consecutive \
        openings; then it admits one probe. If the probe succeeds, the breaker closes, else it opens again";
    source = "linkerd's circuit breaker for consecutive failures";
}

part!(BreakerConfig: Budget, |config, _| Breaker::new(config));

struct Breaker {
    config: BreakerConfig,
    phase: Phase,
    /// Number of consecutive failures while closed.
    failures: u32,
    /// Number of times that the circuit breaker has opened since it was last closed.
    openings: u32,
    /// Number of phase changes and probes of the circuit breaker so far. An attempt receives the current number as its
    /// permit when it is sent. If the number differs when the attempt ends, the phase has changed since.
    epoch: u32,
    reason: &'static str,
}

impl Breaker {
    fn new(config: BreakerConfig) -> Self {
        Self { config, phase: Phase::Closed, failures: 0, openings: 0, epoch: 0, reason: "started" }
    }

    fn change(&mut self, phase: Phase, reason: &'static str) {
        self.phase = phase;
        self.failures = 0;
        self.reason = reason;
        self.epoch = self.epoch.wrapping_add(1);
    }

    fn open(&mut self, now: Instant, reason: &'static str) {
        let BreakerConfig { open, factor, cap, .. } = self.config;
        let until = now + grown(open, 1.0, factor, self.openings, cap);
        self.openings = self.openings.saturating_add(1);
        self.change(Phase::Open { until }, reason);
    }
}

impl Budget for Breaker {
    fn ask(&self, now: Instant, _launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        match (self.phase.blocked_until(now), self.config.when_open) {
            (None, _) => BudgetDecision::Permit,
            (Some(until), WhenOpen::Wait) => BudgetDecision::Wait(until),
            (_, WhenOpen::Shed) => BudgetDecision::Shed(Advice::None),
        }
    }

    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Permit {
        if self.phase != Phase::Closed {
            self.change(Phase::HalfOpen { left: 0 }, "a probe is in flight");
        }
        Permit(self.epoch)
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        if permit != Permit(self.epoch) {
            return;
        }
        let succeeded = outcome.status == Status::Succeeded;
        let congested = outcome.status.is_congestion();
        match self.phase {
            Phase::Closed if succeeded => self.failures = 0,
            Phase::Closed if congested => {
                self.failures += 1;
                if self.failures >= self.config.failures {
                    self.open(now, "too many failures in a row");
                }
            }
            Phase::HalfOpen { .. } if succeeded => {
                self.openings = 0;
                self.change(Phase::Closed, "the probe succeeded");
            }
            Phase::HalfOpen { .. } if congested => self.open(now, "the probe failed"),
            // The probe showed nothing about the load of the server, because it was deferred, cancelled or failed
            // permanently. So the next launch becomes the probe instead.
            Phase::HalfOpen { .. } => {
                self.change(Phase::HalfOpen { left: 1 }, "the probe was inconclusive");
            }
            Phase::Closed | Phase::Open { .. } => {}
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        self.phase.show(self.reason, gauges);
    }
}

#[cfg(test)]
mod tests;
