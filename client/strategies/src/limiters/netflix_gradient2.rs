//! `netflix-gradient2`: shrinks by the ratio of the long-term mean round trip to the present round trip, and allows a
//! queue of four attempts.
//!
//! Source: Netflix/concurrency-limits, `limit/Gradient2Limit.java` and `limit/measurement/ExpAvgMeasurement.java`. The
//! README of the source wraps this limit in a `WindowedLimit`. Such time windows are the default of this limiter. A
//! dropped attempt affects the limit only by its round trip. So the limiter does not notice a server that rejects
//! instead of queueing, and the limit grows to its maximum.
//!
//! An example is the server of the scenario `sync-musings`. Without windows, the limit reaches its maximum at once, and
//! an op needs eleven attempts. With windows, the limit grows by 0.8 per second.

use vocabulary::{parameters, whole_nanos};

use super::netflix::{Limit, NetflixLimiter, Sample, Windowed};
use super::whole_part;
use crate::part_config::part;
use crate::{GaugeKind, Gauges};

const LONG_TERM: GaugeKind = GaugeKind { name: "long-term rtt", unit: "ms" };

/// Number of samples at the start. Their plain mean is the initial value of the long-term mean.
const WARM_UP: u32 = 10;

parameters! {
    pub(crate) struct NetflixGradient2 = "netflix-gradient2" {
        initial: u32 = 20, "initial limit, in attempts in flight", 1..=1_000_000_000;
        min: u32 = 20, "minimum limit", 1..=1_000_000_000;
        max: u32 = 200, "maximum limit, unless `min` is higher", 1..=1_000_000_000;
        queue: u32 = 4, "number of attempts that may queue at the server", 0..=1_000_000;
        tolerance: f64 = 1.5,
            "multiple of the mean round trip up to which the limiter assumes no queue", 1.0..=1e6;
        smoothing: f64 = 0.2, "weight of the new limit; the old limit has the remaining weight", 0.0..=1.0;
        long_window: u32 = 600,
            "number of samples over which the long-term mean is averaged", 1..=1_000_000_000;
        windowed: choice Windowed = Windowed::Yes, Windowed::ABOUT;
    }
    summary = "Netflix Gradient2Limit: shrinks as round trips exceed their mean";
    rule = "an attempt may start while fewer than floor(limit) are in flight. long is the mean of the first \
        10 round trips; later, each sample adds 2 / (long-window + 1) * (rtt - long) to it, and while it is \
        above 2 * rtt it also falls by a twentieth. Each sample sets next = limit * g + queue, where g = \
        tolerance * long / rtt, from 0.5 to 1, and limit = (1 - smoothing) * limit + smoothing * next, from \
        `min` to `max`. The limit does not change if less than half of it was in flight when the attempt was \
        sent. The round trips of dropped attempts count like any others";
    source = "Netflix/concurrency-limits limit/Gradient2Limit.java";
}

part!(NetflixGradient2: Limiter, |config, _| NetflixLimiter::new(config.windowed, Gradient2::new(config)));

/// Exponentially weighted mean. Over its first samples it is a plain mean instead (`ExpAvgMeasurement`).
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    value: f64,
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64, window: u32) {
        if self.count < WARM_UP {
            self.count += 1;
            self.sum += value;
            self.value = self.sum / f64::from(self.count);
        } else {
            let factor = 2.0 / (f64::from(window) + 1.0);
            self.value = self.value * (1.0 - factor) + value * factor;
        }
    }
}

struct Gradient2 {
    config: NetflixGradient2,
    limit: f64,
    /// Long-term mean of the round trip, in nanoseconds.
    long: Mean,
    phase: &'static str,
    reason: &'static str,
}

impl Gradient2 {
    fn new(config: NetflixGradient2) -> Self {
        let limit = f64::from(config.initial);
        Self { config, limit, long: Mean::default(), phase: "warming up", reason: "started" }
    }
}

impl Limit for Gradient2 {
    fn on_sample(&mut self, sample: &Sample) {
        let NetflixGradient2 { min, max, queue, tolerance, smoothing, long_window, .. } = self.config;
        let rtt = whole_nanos(sample.rtt) as f64;
        self.long.add(rtt, long_window);
        let long = self.long.value;
        if long / rtt > 2.0 {
            self.long.value = long * 0.95;
        }
        if f64::from(sample.in_flight) < self.limit / 2.0 {
            self.phase = "less than half the limit used";
            return;
        }
        let gradient = (tolerance * long / rtt).clamp(0.5, 1.0);
        let next = self.limit * gradient + f64::from(queue);
        let next = self.limit * (1.0 - smoothing) + next * smoothing;
        let next = next.min(f64::from(max)).max(f64::from(min));
        self.phase = if next < self.limit { "shrinking" } else { "growing" };
        self.reason = if gradient < 1.0 { "cut: longer round trips" } else { "no queue" };
        self.limit = next;
    }

    fn limit(&self) -> u32 {
        whole_part(self.limit)
    }

    fn report(&self, gauges: &mut Gauges) {
        if self.long.count > 0 {
            gauges.draw(&LONG_TERM, self.long.value / 1e6);
        }
        gauges.explain(self.phase, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sample(millis: u64, in_flight: u32) -> Sample {
        Sample { rtt: Duration::from_millis(millis), in_flight, dropped: false, op: 0 }
    }

    /// Returns the limits after each of these samples (round trip in ms, in flight).
    fn limits<const N: usize>(config: NetflixGradient2, samples: [(u64, u32); N]) -> [u32; N] {
        let mut gradient = Gradient2::new(config);
        samples.map(|(millis, in_flight)| {
            gradient.on_sample(&sample(millis, in_flight));
            gradient.limit()
        })
    }

    #[test]
    fn the_vectors_of_exp_avg_measurement_test_hold() {
        let mut mean = Mean::default();
        for (value, wanted) in (10..20).zip([10.0, 10.5, 11.0, 11.5, 12.0, 12.5, 13.0, 13.5, 14.0, 14.5]) {
            mean.add(f64::from(value), 100);
            assert!((mean.value - wanted).abs() < 0.01, "{} instead of {wanted}", mean.value);
        }
        mean.add(100.0, 100);
        assert!((mean.value - 16.2).abs() < 0.1, "{}", mean.value);
    }

    #[test]
    fn the_vectors_of_users_of_the_library_hold() {
        // The library has no vectors of its own. These are from GreptimeDB's and HoraeDB's Java clients,
        // `rpc/LimitTest.java`.
        let config = NetflixGradient2 {
            initial: 512,
            max: 1024,
            queue: 16,
            long_window: 100,
            ..NetflixGradient2::default()
        };
        assert_eq!(limits(config.clone(), [(10, 512), (10, 513)]), [515, 518]);
        assert_eq!(limits(config, [(10, 512), (50, 513)]), [515, 508]);
    }

    #[test]
    fn half_unused_holds_and_bounds_hold() {
        let config = NetflixGradient2::default();
        assert_eq!(limits(config.clone(), [(10, 9), (10, 10), (10, 11)]), [20, 20, 21]);
        assert_eq!(limits(config.clone(), [(10, 20), (1000, 20)]), [20, 20]);
        assert_eq!(
            limits(NetflixGradient2 { max: 21, ..config }, [(10, 99); 9]),
            [20, 21, 21, 21, 21, 21, 21, 21, 21]
        );
    }

    #[test]
    fn a_mean_above_twice_the_rtt_decays_by_a_twentieth_after_use() {
        let mut gradient =
            Gradient2::new(NetflixGradient2 { long_window: 99, ..NetflixGradient2::default() });
        (0..10).for_each(|_| gradient.on_sample(&sample(100, 1)));
        gradient.on_sample(&sample(10, 1));
        assert!((gradient.long.value - 98.2e6 * 0.95).abs() < 1.0, "{}", gradient.long.value);
    }

    #[test]
    fn a_drop_is_no_reason_to_shrink() {
        let mut gradient = Gradient2::new(NetflixGradient2::default());
        let drop = Sample { dropped: true, ..sample(10, 200) };
        (0..1000).for_each(|_| gradient.on_sample(&drop));
        assert_eq!(gradient.limit(), 200);
    }
}
