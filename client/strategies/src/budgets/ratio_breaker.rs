//! `ratio-breaker`: circuit breaker that opens when the failure ratio exceeds a threshold. A few trial attempts then
//! decide whether it closes.
//!
//! Source: App-vNext/Polly
//! `src/Polly.Core/CircuitBreaker/{Controller/CircuitStateController,Controller/AdvancedCircuitBehavior,Health/RollingHealthMetrics}.cs`,
//! with the defaults of dotnet/extensions' standard resilience handler. With these defaults, the breaker opens if 10 %
//! of at least 100 calls within 30 s fail. It stays open for 5 s and then sends one trial. Calls that the breaker
//! refuses are not retried. The other source is resilience4j/resilience4j `CircuitBreakerStateMachine.java`,
//! `CircuitBreakerMetrics.java`. The breaker of resilience4j opens if half of the last 100 calls fail. It stays open
//! for a minute and then sends ten trials (`ratio=0.5,calls=100,open=1m,trials=10`).
//!
//! As in both sources, the outcome of an attempt counts for the breaker's phase when the attempt ends, not when it was
//! sent. So an attempt that was sent before the opening can decide in place of a trial.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::{Rng, parameters};

use super::phase::{Phase, WhenOpen};
use super::refusal::was_accepted;
use super::tally::Counts;
use crate::part_config::part;
use crate::{AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Instant, Outcome, Permit};

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct RatioBreaker = "ratio-breaker" {
        ratio: f64 = 0.1, "share of failures that opens the breaker", 0.001..=1.0;
        least: u32 = 100,
            "minimum number of attempts to judge; with fewer, the breaker stays closed", 1..=10_000;
        window: Duration = Duration::from_secs(30),
            "how far back ended attempts are counted; they expire in steps of a tenth of it",
            Duration::from_millis(500)..=Duration::from_hours(1);
        calls: u32 = 0,
            "number of latest attempts to count, instead of those within `window`; 0 uses `window`",
            0..=10_000;
        open: Duration = Duration::from_secs(5),
            "time for which the breaker stays open before the first trial";
        trials: u32 = 1, "number of trial attempts that decide whether the breaker closes", 1..=10_000;
        when_open: choice WhenOpen = WhenOpen::GiveUp,
            "whether refused launches end their ops, back off as after a failure, or wait";
    }
    summary = "circuit breaker: opens when the failure ratio exceeds a threshold";
    rule = "the breaker is closed at first. It opens when the share of failures reaches `ratio`, among the \
        attempts that ended in the last `window` (or among the last `calls`), if there were at least `least` \
        of them. While open, it admits nothing for the time `open`. Then it admits `trials` attempts. When \
        they have ended, it closes if their share of failures is below `ratio`, else it opens again";
    source = "App-vNext/Polly CircuitStateController.cs, RollingHealthMetrics.cs; resilience4j/resilience4j \
        CircuitBreakerStateMachine.java, CircuitBreakerMetrics.java";
}

part!(RatioBreaker: Budget, |config, _| Breaker::new(config));

/// Permit that marks a trial attempt. If a trial ends without success or failure (for example, because it was
/// cancelled), another trial may be sent instead.
const TRIAL: Permit = Permit(1);

struct Breaker {
    config: RatioBreaker,
    phase: Phase,
    calls: Calls,
    /// Attempts that ended since the first trial was sent.
    trials: Counts,
    reason: &'static str,
}

impl Breaker {
    fn new(config: RatioBreaker) -> Self {
        let calls = Calls::new(config.calls, config.window);
        Self { config, phase: Phase::Closed, calls, trials: Counts::default(), reason: "started" }
    }

    fn exceeds(&self, counts: Counts, least: u32) -> bool {
        let failures = counts.requests - counts.accepted;
        counts.requests >= least.into() && failures as f64 >= self.config.ratio * counts.requests as f64
    }

    fn open(&mut self, now: Instant, reason: &'static str) {
        self.phase = Phase::Open { until: now + self.config.open };
        self.reason = reason;
    }

    fn on_call(&mut self, now: Instant, accepted: bool) {
        match self.phase {
            Phase::Closed => {
                let counts = self.calls.count(now, accepted);
                // Without `calls`, the failure ratio is checked only after failures, as in Polly. With `calls`, it is
                // also checked after successes, because a success may complete the required number of attempts.
                let least = if self.config.calls > 0 {
                    self.config.least.min(self.config.calls)
                } else {
                    self.config.least
                };
                if (!accepted || self.config.calls > 0) && self.exceeds(counts, least) {
                    self.open(now, "too many failures");
                }
            }
            Phase::Open { .. } => {}
            Phase::HalfOpen { .. } => {
                self.trials.count(accepted);
                if self.trials.requests < self.config.trials.into() {
                    return;
                }
                if self.exceeds(self.trials, 1) {
                    return self.open(now, "the trials failed");
                }
                self.phase = Phase::Closed;
                self.calls.clear();
                self.reason = "the trials succeeded";
            }
        }
    }
}

impl Budget for Breaker {
    fn ask(&self, now: Instant, _launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        self.config.when_open.gate(self.phase, now)
    }

    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Permit {
        let left = match self.phase {
            Phase::Closed => return Permit::default(),
            Phase::Open { .. } => {
                self.trials = Counts::default();
                self.config.trials
            }
            Phase::HalfOpen { left } => left,
        };
        self.phase = Phase::HalfOpen { left: left.saturating_sub(1) };
        self.reason = "trials are in flight";
        TRIAL
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome, permit: Permit) {
        match (was_accepted(outcome), &mut self.phase) {
            (Some(accepted), _) => self.on_call(now, accepted),
            (None, Phase::HalfOpen { left }) if permit == TRIAL => {
                *left = (*left + 1).min(self.config.trials);
            }
            (None, _) => {}
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        self.phase.show(self.reason, gauges);
    }
}

/// Number of equal parts into which the time window is divided. All counts of the oldest part expire together.
const PARTS: u32 = 10;

struct Calls {
    counted: Counted,
    sum: Counts,
}

enum Counted {
    Last {
        ring: Vec<bool>,
        next: usize,
    },
    /// Counts within a time window, kept in parts of a tenth of the window each. A new part starts when an attempt ends
    /// and the current part is over.
    Within {
        parts: VecDeque<(Instant, Counts)>,
        window: Duration,
    },
}

impl Calls {
    fn new(last: u32, window: Duration) -> Self {
        let counted = match last {
            0 => Counted::Within { parts: VecDeque::new(), window },
            last => Counted::Last { ring: vec![false; last as usize], next: 0 },
        };
        Self { counted, sum: Counts::default() }
    }

    fn count(&mut self, now: Instant, accepted: bool) -> Counts {
        match &mut self.counted {
            Counted::Last { ring, next } => {
                let oldest = std::mem::replace(&mut ring[*next], accepted);
                if self.sum.requests == ring.len() as u64 {
                    self.sum.forget(Counts { requests: 1, accepted: oldest.into() });
                }
                *next = (*next + 1) % ring.len();
            }
            Counted::Within { parts, window } => {
                if parts.back().is_none_or(|(began, _)| now.since(*began) >= *window / PARTS) {
                    parts.push_back((now, Counts::default()));
                }
                while let Some((_, oldest)) = parts.front().filter(|(began, _)| now.since(*began) >= *window)
                {
                    self.sum.forget(*oldest);
                    parts.pop_front();
                }
                if let Some((_, newest)) = parts.back_mut() {
                    newest.count(accepted);
                }
            }
        }
        self.sum.count(accepted);
        self.sum
    }

    fn clear(&mut self) {
        self.sum = Counts::default();
        match &mut self.counted {
            Counted::Last { next, .. } => *next = 0,
            Counted::Within { parts, .. } => parts.clear(),
        }
    }
}
