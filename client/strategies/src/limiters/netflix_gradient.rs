//! `netflix-gradient`: shrinks by the ratio of the shortest round trip to the present round trip, and allows a queue of
//! the square root of the limit.
//!
//! Source: Netflix/concurrency-limits, `limit/GradientLimit.java`, `limit/functions/SquareRootFunction.java` and
//! `limit/measurement/MinimumMeasurement.java`. The source was written for samples that are means over time windows, so
//! such samples are the default of this limiter. Every 1000 to 2000 samples the limit falls to the size of the allowed
//! queue. So the shortest round trip can be measured without load.
//!
//! A rejection may be answered sooner than any work. The limiter then takes the round trip of rejections for the
//! shortest round trip, so work looks slow. Without windows, rejections therefore keep the limit at 8 on the server of
//! the scenario `sync-musings`. With windows, rejections and work are averaged, and the limit reaches the server's cap.

use std::time::Duration;

use vocabulary::{Purpose, draws, parameters, unit, whole_nanos};

use super::netflix::{Limit, NO_LOAD, NetflixLimiter, Sample, Windowed};
use super::whole_part;
use crate::Gauges;
use crate::part_config::part;

/// Minimum allowed queue, in attempts (`SquareRootFunction.create(4)` in the source's builder).
const MIN_QUEUE: u32 = 4;

parameters! {
    pub(crate) struct NetflixGradient = "netflix-gradient" {
        initial: u32 = 50, "initial limit, in attempts in flight", 1..=1_000_000_000;
        min: u32 = 1, "minimum limit", 1..=1_000_000_000;
        max: u32 = 1000, "maximum limit", 1..=1_000_000_000;
        tolerance: f64 = 2.0,
            "multiple of the shortest round trip up to which the limiter assumes no queue", 1.0..=1e6;
        smoothing: f64 = 0.2,
            "weight of the new limit if it is lower; the old limit has the remaining weight", 0.0..=1.0;
        ratio: f64 = 0.9, "share of the limit that remains after a drop, before smoothing", 0.5..=1.0;
        probe: u32 = 1000,
            "minimum number of samples between two measurements of the shortest round trip", 1..=u32::MAX;
        windowed: choice Windowed = Windowed::Yes, Windowed::ABOUT;
    }
    summary = "Netflix GradientLimit: shrinks as round trips exceed the shortest one";
    rule = "an attempt may start while fewer than floor(limit) are in flight. queue = max(4, \
        floor(sqrt(limit))). After a drop, next = ratio * limit. After any other sample, next = limit * g + \
        queue, where g = tolerance * shortest / rtt, from 0.5 to 1; the sample is ignored if less than half \
        the limit was in flight when it was sent. If next is lower than the limit, it is smoothed and at \
        least `min`. Then limit = max(queue, min(max, next)). After a random number of samples, from probe \
        to 2 * probe - 1, limit = max(min, queue), and the shortest round trip is measured anew";
    source = "Netflix/concurrency-limits limit/GradientLimit.java";
}

part!(NetflixGradient: Limiter, |config, context| NetflixLimiter::new(config.windowed, Gradient::new(config, context.seed)));

struct Gradient {
    config: NetflixGradient,
    seed: u64,
    limit: f64,
    shortest: Option<Duration>,
    /// Number of samples until the next probe, which measures the shortest round trip anew. The number is drawn at the
    /// first sample after a probe. The key of the draw is the op of that sample, so that clients do not probe together.
    until_probe: Option<u64>,
    probes: u32,
    phase: &'static str,
    reason: &'static str,
}

impl Gradient {
    fn new(config: NetflixGradient, seed: u64) -> Self {
        Self {
            limit: f64::from(config.initial),
            config,
            seed,
            shortest: None,
            until_probe: None,
            probes: 0,
            phase: "measuring without load",
            reason: "started",
        }
    }

    fn is_time_to_probe(&mut self, op: u64) -> bool {
        let probe = self.config.probe;
        if probe == u32::MAX {
            return false;
        }
        let (seed, probes) = (self.seed, self.probes);
        let drawn = || {
            let more = unit(&mut draws(seed, Purpose::Probe, op, probes)) * f64::from(probe);
            u64::from(probe) + u64::from(whole_part(more))
        };
        let until = self.until_probe.get_or_insert_with(drawn);
        match until.checked_sub(1) {
            Some(fewer) => {
                *until = fewer;
                false
            }
            None => true,
        }
    }

    fn queue(&self) -> f64 {
        f64::from(whole_part(self.limit).isqrt().max(MIN_QUEUE))
    }
}

impl Limit for Gradient {
    fn on_sample(&mut self, sample: &Sample) {
        let NetflixGradient { min, max, tolerance, smoothing, ratio, .. } = self.config;
        let (min, queue) = (f64::from(min), self.queue());
        if self.is_time_to_probe(sample.op) {
            self.until_probe = None;
            self.probes = self.probes.wrapping_add(1);
            self.limit = min.max(queue);
            self.shortest = None;
            (self.phase, self.reason) = ("measuring without load", "new measurement due");
            return;
        }
        let shortest = self.shortest.map_or(sample.rtt, |shortest| shortest.min(sample.rtt));
        self.shortest = Some(shortest);
        let gradient = tolerance * whole_nanos(shortest) as f64 / whole_nanos(sample.rtt) as f64;
        let mut next = if sample.dropped {
            self.reason = "cut by a drop";
            self.limit * ratio
        } else if f64::from(sample.in_flight) < self.limit / 2.0 {
            self.phase = "less than half the limit used";
            return;
        } else {
            self.reason = if gradient < 1.0 { "cut: longer round trips" } else { "no queue" };
            self.limit * gradient.clamp(0.5, 1.0) + queue
        };
        self.phase = "growing";
        if next < self.limit {
            next = min.max(self.limit * (1.0 - smoothing) + smoothing * next);
            self.phase = "shrinking";
        }
        self.limit = next.min(f64::from(max)).max(queue);
    }

    fn limit(&self) -> u32 {
        whole_part(self.limit).max(1)
    }

    fn report(&self, gauges: &mut Gauges) {
        if let Some(shortest) = self.shortest {
            gauges.draw(&NO_LOAD, shortest.as_secs_f64() * 1e3);
        }
        gauges.explain(self.phase, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: NetflixGradient = NetflixGradient {
        initial: 50,
        min: 1,
        max: 1000,
        tolerance: 2.0,
        smoothing: 0.2,
        ratio: 0.9,
        probe: u32::MAX,
        windowed: Windowed::No,
    };

    fn sample(millis: u64, in_flight: u32) -> Sample {
        Sample { rtt: Duration::from_millis(millis), in_flight, dropped: false, op: 0 }
    }

    #[track_caller]
    fn after(gradient: &mut Gradient, sample: &Sample, limit: f64) {
        gradient.on_sample(sample);
        assert!((gradient.limit - limit).abs() < 1e-9, "{} instead of {limit}", gradient.limit);
    }

    #[test]
    fn within_tolerance_it_grows_by_the_root_and_at_least_by_4() {
        let mut gradient = Gradient::new(NEVER, 1);
        after(&mut gradient, &sample(10, 50), 57.0);
        after(&mut gradient, &sample(20, 57), 64.0);
        after(&mut gradient, &sample(20, 64), 72.0);
        let mut small = Gradient::new(NetflixGradient { initial: 9, ..NEVER }, 1);
        after(&mut small, &sample(10, 9), 13.0);
    }

    /// The gradient is at least 0.5.
    #[test]
    fn beyond_tolerance_it_moves_a_fifth_by_the_gradient() {
        let mut gradient = Gradient::new(NEVER, 1);
        after(&mut gradient, &sample(10, 50), 57.0);
        // 57 · 2 · 10/25 + 7 = 52.6; the limit moves a fifth of the way there.
        after(&mut gradient, &sample(25, 57), 57.0 * 0.8 + 52.6 * 0.2);
        let limit = gradient.limit;
        after(&mut gradient, &sample(1000, 57), limit * 0.8 + (limit * 0.5 + 7.0) * 0.2);
    }

    #[test]
    fn a_drop_takes_a_tenth_smoothed_and_half_unused_holds() {
        let mut gradient = Gradient::new(NEVER, 1);
        after(&mut gradient, &sample(10, 24), 50.0);
        after(&mut gradient, &Sample { dropped: true, ..sample(10, 1) }, 49.0);
        after(&mut gradient, &sample(10, 25), 56.0);
    }

    #[test]
    fn bounds_hold_but_for_the_queue() {
        let mut gradient = Gradient::new(NetflixGradient { max: 52, ..NEVER }, 1);
        after(&mut gradient, &sample(10, 50), 52.0);
        let mut low = Gradient::new(NetflixGradient { max: 2, ..NEVER }, 1);
        after(&mut low, &sample(10, 50), 7.0);
        let drop = Sample { dropped: true, ..sample(10, 1) };
        let mut least = Gradient::new(NEVER, 1);
        (0..1000).for_each(|_| least.on_sample(&drop));
        assert_eq!(least.limit(), 4);
    }

    /// At a probe, the limit is set to the size of the allowed queue.
    #[test]
    fn every_1000_to_2000_samples_the_shortest_rtt_is_forgotten() {
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let mut gradient = Gradient::new(NetflixGradient { probe: 1000, max: 100, ..NEVER }, seed);
            let mut count = 0;
            while gradient.shortest.is_some() || count == 0 {
                gradient.on_sample(&sample(10, 100));
                count += 1;
            }
            assert_eq!((gradient.limit(), gradient.reason), (10, "new measurement due"));
            assert!((1001..=2000).contains(&count), "{count}");
            lengths.insert(count);
        }
        assert!(lengths.len() > 40, "{lengths:?}");
    }
}
