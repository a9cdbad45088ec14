//! `vector-arc`: Vector's adaptive request concurrency, which grows by one per round trip unless answers become slower
//! or errors occur.
//!
//! Source: vectordotdev/vector, `src/sinks/util/adaptive_concurrency/{controller,mod}.rs` and
//! `lib/vector-common/src/stats/ewma.rs`. Once per mean round trip, the limiter compares the mean round trip of recent
//! successes with the mean of earlier successes. The limit starts at one attempt, without slow start. If round trips
//! vary at random, the recent mean exceeds the earlier mean half of the time, and then the limit does not grow. If
//! round trips never vary, the limit shrinks whenever the client does not reach it.

use std::time::Duration;

use vocabulary::parameters;

use super::whole_part;
use crate::part_config::part;
use crate::{AttemptEnd, Classification, GaugeKind, Gauges, Instant, Limiter, LimiterView, Outcome, Status};

const PAST: GaugeKind = GaugeKind { name: "past rtt", unit: "ms" };

parameters! {
    pub(crate) struct VectorArcConfig = "vector-arc" {
        initial: u32 = 1, "initial limit, in attempts in flight", 1..=1_000_000_000;
        max: u32 = 200, "maximum limit", 1..=1_000_000_000;
        ratio: f64 = 0.9, "share of the limit that remains after a cut", 0.01..=0.999;
        alpha: f64 = 0.4, "weight of the latest round trips in the past mean round trip", 0.001..=0.999;
        deviations: f64 = 2.5,
            "number of standard deviations above the past mean at which answers count as slower", 0.0..=1e6;
    }
    summary = "Vector's adaptive concurrency: follows round trips and retriable errors";
    rule = "an attempt may start while fewer than limit are in flight. Answers are collected in windows; the \
        first answer after a mean round trip ends a window. mean is the mean round trip of its successes. \
        The limit grows by 1, up to `max`, if the window had no retriable error, the limit was reached, and \
        mean <= past mean. If the window had a retriable error, or if mean >= past mean + deviations * past \
        deviation, limit = max(1, floor(limit * ratio)). Then d = mean - past mean, past mean grows by alpha \
        * d, and past variance = (1 - alpha) * (past variance + alpha * d^2)";
    source = "vectordotdev/vector src/sinks/util/adaptive_concurrency/controller.rs";
}

part!(VectorArcConfig: Limiter, |config, _| VectorArc::new(config));

/// Arithmetic mean of round-trip times, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    mean: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.count = self.count.saturating_add(1);
        self.mean += (value - self.mean) / f64::from(self.count);
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }
}

/// Exponentially weighted mean and variance of past round trips, in seconds (`EwmaVar`).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Past {
    mean: f64,
    variance: f64,
}

impl Past {
    fn first(value: f64) -> Self {
        Self { mean: value, variance: 0.0 }
    }

    fn next(self, value: f64, alpha: f64) -> Self {
        let difference = value - self.mean;
        let increment = alpha * difference;
        let variance = (1.0 - alpha) * difference.mul_add(increment, self.variance);
        Self { mean: self.mean + increment, variance }
    }
}

struct VectorArc {
    config: VectorArcConfig,
    limit: u32,
    past: Option<Past>,
    current: Mean,
    next_update: Instant,
    had_back_pressure: bool,
    reached_limit: bool,
    phase: &'static str,
    reason: &'static str,
}

impl VectorArc {
    fn new(config: VectorArcConfig) -> Self {
        Self {
            limit: config.initial,
            config,
            past: None,
            current: Mean::default(),
            next_update: Instant::ORIGIN,
            had_back_pressure: false,
            reached_limit: false,
            phase: "growing",
            reason: "started",
        }
    }

    fn manage(&mut self, past: Past, current: Option<f64>) {
        let threshold = past.variance.sqrt() * self.config.deviations;
        let may_grow = self.limit < self.config.max && self.reached_limit && !self.had_back_pressure;
        if may_grow && current.is_some_and(|current| current <= past.mean) {
            self.limit += 1;
            (self.phase, self.reason) = ("growing", "grown: answers are no slower");
        } else if self.limit > 1
            && (self.had_back_pressure || current.unwrap_or(0.0) >= past.mean + threshold)
        {
            self.limit = whole_part(f64::from(self.limit) * self.config.ratio).max(1);
            self.phase = "shrinking";
            self.reason = if self.had_back_pressure { "cut by an error" } else { "cut: answers are slower" };
        } else {
            self.phase = "holding";
        }
    }
}

impl Limiter for VectorArc {
    fn is_full(&self, in_flight: u32) -> bool {
        in_flight >= self.limit
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        self.reached_limit |= view.in_flight + 1 >= self.limit;
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        if matches!(outcome.status, Status::Shed | Status::Deferred | Status::Cancelled) {
            return;
        }
        match outcome.classification {
            Classification::Done => self.current.add(now.since(ended.sent_at).as_secs_f64()),
            Classification::Throttled | Classification::Transient => self.had_back_pressure = true,
            Classification::Final => {}
        }
        let current = self.current.value();
        let past = match self.past {
            None => current.map(Past::first),
            Some(past) if now >= self.next_update => {
                self.manage(past, current);
                self.current = Mean::default();
                self.had_back_pressure = false;
                self.reached_limit = false;
                Some(current.map_or(past, |current| past.next(current, self.config.alpha)))
            }
            Some(_) => return,
        };
        if let Some(past) = past {
            self.past = Some(past);
            self.next_update = now + Duration::try_from_secs_f64(past.mean).unwrap_or(Duration::MAX);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(f64::from(self.limit));
        if let Some(past) = self.past {
            gauges.draw(&PAST, past.mean * 1e3);
        }
        gauges.explain(self.phase, self.reason);
    }
}

#[cfg(test)]
mod tests;
