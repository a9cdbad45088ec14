//! `envoy-gradient`: Envoy's adaptive concurrency. The window grows and shrinks with the ratio of the best latency to
//! the present latency.
//!
//! Source: envoyproxy/envoy `source/extensions/filters/http/adaptive_concurrency/controller/gradient_controller.cc` and
//! `api/envoy/extensions/filters/http/adaptive_concurrency/v3/adaptive_concurrency.proto`. `interval` and `probe-every`
//! have no default in Envoy. Their defaults here are the values of the example in its documentation.
//!
//! Envoy samples the latency of every answer, including errors, so a server that rejects at once looks fast
//! (`samples=all`). With `samples=successes` only successes are sampled. In both cases, a rejection itself does not cut
//! the window.

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::{DAY, Purpose, Rng as _, choices, draws, parameters, whole_nanos};

use super::whole_part;
use crate::part_config::part;
use crate::{AttemptEnd, Candidate, GaugeKind, Gauges, Instant, Limiter, LimiterView, Outcome, Status};

const BEST: GaugeKind = GaugeKind { name: "min rtt", unit: "ms" };

const PRESENT: GaugeKind = GaugeKind { name: "sample rtt", unit: "ms" };

choices! {
    enum Samples {
        /// Samples the latency of every ended attempt, except shed, deferred and cancelled ones.
        All = "all",
        Successes = "successes",
    }
}

parameters! {
    pub(crate) struct EnvoyGradientConfig = "envoy-gradient" {
        interval: Duration = Duration::from_millis(100),
            "interval at which the window is computed", Duration::from_millis(1)..=DAY;
        percentile: f64 = 50.0,
            "percentile of the sampled latencies that is compared with the best latency", 0.0..=100.0;
        min: u32 = 3, "minimum window; also the window at which the best latency is measured", 1..=1_000_000;
        max: u32 = 1000, "maximum window", 1..=1_000_000;
        buffer: f64 = 0.25,
            "share by which latencies may exceed the best latency before the window shrinks", 0.0..=100.0;
        probe_every: Duration = Duration::from_mins(1),
            "interval at which the best latency is measured", Duration::from_millis(1)..=DAY;
        jitter: f64 = 0.15, "maximum share by which `probe-every` is randomly lengthened", 0.0..=1.0;
        probe_samples: u32 = 50, "number of samples from which the best latency is measured", 1..=1_000_000;
        samples: choice Samples = Samples::All, "attempts whose latency is sampled: all, or only successes";
    }
    summary = "Envoy's adaptive concurrency: shrinks as latency exceeds its best value";
    rule = "after every `interval` with samples, latency = the `percentile` of the samples, gradient = (1 + \
        buffer) * best / latency, from 0.5 to 2, and window = floor(window * gradient + sqrt(window * \
        gradient)), from `min` to `max`. The best latency is measured at the start, then again after a \
        random time from probe-every to probe-every * (1 + jitter), and also after five consecutive \
        intervals with window = min. During a measurement, window = min until `probe-samples` attempts sent \
        in it have ended; then the window returns to its earlier size";
    source = "envoyproxy/envoy extensions/filters/http/adaptive_concurrency: \
        controller/gradient_controller.cc, v3/adaptive_concurrency.proto";
}

part!(EnvoyGradientConfig: Limiter, |config, context| EnvoyGradient::new(config, context.seed));

/// Number of consecutive intervals with the minimum window. After this many, the best latency is measured again.
const AT_MIN: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Phase that measures the best latency with the minimum window. After the measurement, the window returns to the
    /// value `then`.
    Probing { then: u32 },
    /// Phase that measures the present latency. The measuring interval ends at `until`, and the next measurement of the
    /// best latency starts at `probe_at`.
    Sampling { until: Instant, probe_at: Instant },
}

struct EnvoyGradient {
    config: EnvoyGradientConfig,
    seed: u64,
    window: u32,
    phase: Phase,
    /// Start of the last measurement of the best latency. Attempts that were sent before this instant are not sampled.
    epoch: Instant,
    latencies: LogLinear,
    best_us: f64,
    present_us: f64,
    in_a_row_at_min: u32,
    probes: u32,
    in_flight: u32,
}

impl EnvoyGradient {
    fn new(config: EnvoyGradientConfig, seed: u64) -> Self {
        Self {
            seed,
            window: config.min,
            phase: Phase::Probing { then: config.min },
            epoch: Instant::ORIGIN,
            latencies: LogLinear::new(),
            best_us: 0.0,
            present_us: 0.0,
            in_a_row_at_min: 0,
            probes: 0,
            in_flight: 0,
            config,
        }
    }

    fn catch_up(&mut self, now: Instant) {
        while let Phase::Sampling { until, probe_at } = self.phase {
            if probe_at <= until && probe_at <= now {
                self.probe(probe_at);
            } else if until <= now && until < Instant::FAR_FUTURE {
                self.on_interval(until, probe_at, now);
            } else {
                return;
            }
        }
    }

    fn on_interval(&mut self, at: Instant, probe_at: Instant, now: Instant) {
        // Fast path: skips all intervals without samples at once, because nothing happens in them.
        let interval = whole_nanos(self.config.interval);
        let empty = if self.latencies.total == 0 { now.since(at) } else { Duration::ZERO };
        let passed = 1 + whole_nanos(empty) / interval;
        let until = at + Duration::from_nanos(interval.saturating_mul(passed));
        self.phase = Phase::Sampling { until, probe_at };
        if let Some(latency) = self.take_latency() {
            self.present_us = latency;
            let window = self.next_window();
            let at_min = [self.window, window].iter().all(|window| *window == self.config.min);
            self.in_a_row_at_min = if at_min { self.in_a_row_at_min + 1 } else { 0 };
            self.window = window;
            if self.in_a_row_at_min >= AT_MIN {
                self.probe(at);
            }
        }
    }

    fn next_window(&self) -> u32 {
        let bearable = self.best_us.max(1.0) * (1.0 + self.config.buffer);
        let gradient = (bearable / self.present_us.max(1.0)).clamp(0.5, 2.0);
        let limit = f64::from(self.window) * gradient;
        let next = whole_part(limit + libm::sqrt(limit));
        next.min(self.config.max).max(self.config.min)
    }

    fn take_latency(&mut self) -> Option<f64> {
        let latency = self.latencies.quantile(self.config.percentile / 100.0).map(libm::floor);
        self.latencies.clear();
        latency
    }

    fn probe(&mut self, at: Instant) {
        self.phase = Phase::Probing { then: self.window };
        self.window = self.config.min;
        self.in_a_row_at_min = 0;
        self.latencies.clear();
        self.epoch = at;
    }

    fn on_sample(&mut self, now: Instant, ended: &AttemptEnd) {
        self.latencies.insert(whole_nanos(now.since(ended.sent_at)) / 1000);
        if let Phase::Probing { then } = self.phase
            && self.latencies.total >= self.config.probe_samples
        {
            self.best_us = self.take_latency().unwrap_or(self.best_us);
            self.window = then;
            let mut rng = draws(self.seed, Purpose::Probe, ended.op, self.probes);
            self.probes = self.probes.wrapping_add(1);
            let until_probe = jittered(self.config.probe_every, self.config.jitter, rng.next_u64());
            self.phase = Phase::Sampling { until: now + self.config.interval, probe_at: now + until_probe };
        }
    }
}

/// Returns the interval in whole milliseconds, with a random extension of up to `share` times the interval.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and not below zero")]
fn jittered(interval: Duration, share: f64, random: u64) -> Duration {
    let millis = whole_nanos(interval) / 1_000_000;
    let range = libm::ceil(millis as f64 * share) as u64;
    Duration::from_millis(millis + random.checked_rem(range).unwrap_or_default())
}

impl Limiter for EnvoyGradient {
    fn is_full(&self, in_flight: u32) -> bool {
        in_flight >= self.window
    }

    fn on_ready(&mut self, now: Instant, _candidate: &Candidate) {
        self.catch_up(now);
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        self.in_flight = view.in_flight + 1;
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        self.catch_up(now);
        self.in_flight = ended.in_flight.saturating_sub(1);
        let sampled = matches!(
            (self.config.samples, outcome.status),
            (_, Status::Succeeded) | (Samples::All, Status::Rejected | Status::Failed(_))
        );
        if sampled && ended.sent_at >= self.epoch {
            self.on_sample(now, ended);
        }
    }

    fn timer(&self) -> Option<Instant> {
        // Without attempts in flight, the limiter needs no timer. The next event of the client processes all intervals
        // that have ended by then.
        let Phase::Sampling { until, probe_at } = self.phase else { return None };
        let until = if self.latencies.total > 0 { until } else { Instant::FAR_FUTURE };
        Some(until.min(probe_at)).filter(|at| self.in_flight > 0 && *at < Instant::FAR_FUTURE)
    }

    fn on_timer(&mut self, now: Instant) {
        self.catch_up(now);
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(f64::from(self.window));
        if self.best_us > 0.0 {
            gauges.draw(&BEST, self.best_us / 1000.0);
            gauges.draw(&PRESENT, self.present_us / 1000.0);
        }
        gauges.phase = Some(match self.phase {
            Phase::Probing { .. } => "measuring the best latency",
            Phase::Sampling { .. } => "following latency",
        });
    }
}

/// Histogram of latencies with two significant digits, and its quantiles.
///
/// Source: openhistogram/libcircllhist `src/circllhist.c` (`int_scale_to_hist_bucket`, `hist_approx_quantile`), which
/// Envoy uses. There are 90 bins per power of ten. Quantiles assume that values are spread evenly within a bin. So they
/// are slightly too high if all values are at the lower end of a bin. For example, the median of many values of 5 ms is
/// 5.05 ms.
const BINS: usize = 90;

/// Number of powers of ten that fit into a `u64`.
const POWERS: usize = 20;

#[derive(Clone, Debug)]
struct LogLinear {
    zeros: u32,
    counts: Vec<u32>,
    total: u32,
}

impl LogLinear {
    fn new() -> Self {
        Self { zeros: 0, counts: vec![0; BINS * POWERS], total: 0 }
    }

    fn insert(&mut self, value: u64) {
        let count = bin(value).map_or(&mut self.zeros, |bin| &mut self.counts[bin]);
        *count = count.saturating_add(1);
        self.total = self.total.saturating_add(1);
    }

    fn clear(&mut self) {
        self.zeros = 0;
        self.total = 0;
        self.counts.fill(0);
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = f64::from(self.total) * share;
        let zeros = (self.zeros > 0).then_some((0.0, 0.0, f64::from(self.zeros)));
        let others = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let bins = zeros.into_iter().chain(others.map(|(bin, count)| {
            let width = libm::pow(10.0, (bin / BINS) as f64) / 10.0;
            ((bin % BINS + 10) as f64 * width, width, f64::from(*count))
        }));
        let mut below = 0.0;
        let mut found = None;
        for (left, width, count) in bins {
            found = Some(left + ((wanted - below) / count).clamp(0.0, 1.0) * width);
            below += count;
            if below >= wanted {
                break;
            }
        }
        found
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are two digits left")]
fn bin(value: u64) -> Option<usize> {
    let power = value.checked_ilog10()?;
    let digits = if power == 0 { value * 10 } else { value / 10_u64.pow(power - 1) };
    Some(power as usize * BINS + digits as usize - 10)
}
