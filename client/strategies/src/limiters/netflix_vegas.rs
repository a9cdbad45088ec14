//! `netflix-vegas`: grows while round trips are as short as the shortest observed one, and shrinks when longer ones
//! indicate a queue.
//!
//! Source: Netflix/concurrency-limits, `limit/VegasLimit.java` and `limit/functions/Log10RootIntFunction.java`. The
//! limiter takes the shortest round trip since the last probe for the round trip without load. If a round trip is
//! longer, the difference is attributed to a queue.
//!
//! A rejection is answered sooner than any work, so its round trip is taken for the round trip without load. Then the
//! time of the work itself is attributed to a queue, and the limit falls until that apparent queue is short. If a
//! rejection takes a quarter of the time of work, the limit falls to 8. It stays there until a probe measures work
//! again.

use std::time::Duration;

use vocabulary::{Purpose, draws, parameters, unit, whole_nanos};

use super::netflix::{Limit, NO_LOAD, NetflixLimiter, Sample, Windowed};
use super::whole_part;
use crate::Gauges;
use crate::part_config::part;

parameters! {
    pub(crate) struct NetflixVegas = "netflix-vegas" {
        initial: u32 = 20, "initial limit, in attempts in flight", 1..=1_000_000_000;
        max: u32 = 1000, "maximum limit", 1..=1_000_000_000;
        alpha: u32 = 3, "queue below which the limit grows, in multiples of log10(limit)", 0..=1000;
        beta: u32 = 6, "queue above which the limit shrinks, in multiples of log10(limit)", 0..=1000;
        smoothing: f64 = 1.0,
            "weight of the new limit; the old limit has the remaining weight", 0.0..=1.0;
        probe: u32 = 30,
            "maximum number of samples between two measurements without load, in multiples of the limit",
            1..=1_000_000;
        windowed: choice Windowed = Windowed::No, Windowed::ABOUT;
    }
    summary = "Netflix VegasLimit: keeps the queue implied by round-trip times short";
    rule = "an attempt may start while fewer than floor(limit) are in flight. The shortest round trip so far \
        is taken for the round trip without load (base). After a random number of samples, from 0.5 to 1 \
        times probe * limit, the next sample replaces it. lg = max(1, floor(log10 limit)). After a drop, \
        the limit falls by lg. After any other sample, queue = ceil(limit * (1 - base / rtt)); the sample \
        is ignored if less than half the limit was in flight when it was sent. If queue <= lg, the limit \
        grows by beta * lg; if queue < alpha * lg, it grows by lg; if queue > beta * lg, it falls by lg. \
        The limit is smoothed, from 1 to `max`. A quick rejection may count as a round trip without load";
    source = "Netflix/concurrency-limits limit/VegasLimit.java";
}

part!(NetflixVegas: Limiter, |config, context| NetflixLimiter::new(config.windowed, Vegas::new(config, context.seed)));

fn log10(limit: f64) -> u32 {
    whole_part(limit).checked_ilog10().unwrap_or(0).max(1)
}

struct Vegas {
    config: NetflixVegas,
    seed: u64,
    limit: f64,
    no_load: Option<Duration>,
    samples: u32,
    /// Random factor of the number of samples until the next probe: that number is `probe` times the limit times this
    /// factor. The factor is drawn at the first sample after a probe. The key of the draw is the op of that sample, so
    /// that clients do not probe together.
    jitter: Option<f64>,
    probes: u32,
    /// Function that computes the decreased limit (`decreaseFunction` of the source's builder).
    decrease: fn(f64) -> f64,
    phase: &'static str,
    reason: &'static str,
}

impl Vegas {
    fn new(config: NetflixVegas, seed: u64) -> Self {
        Self {
            limit: f64::from(config.initial),
            config,
            seed,
            no_load: None,
            samples: 0,
            jitter: None,
            probes: 0,
            decrease: |limit| limit - f64::from(log10(limit)),
            phase: "measuring without load",
            reason: "started",
        }
    }

    fn is_time_to_probe(&mut self, op: u64) -> bool {
        self.samples += 1;
        let (seed, probes) = (self.seed, self.probes);
        let draw = || 0.5 + 0.5 * unit(&mut draws(seed, Purpose::Probe, op, probes));
        let jitter = *self.jitter.get_or_insert_with(draw);
        jitter * f64::from(self.config.probe) * self.limit <= f64::from(self.samples)
    }

    /// Returns the next limit, before it is bounded and smoothed. Returns `None` if the limit does not change.
    #[expect(clippy::cast_possible_truncation, reason = "a queue is no longer than the limit")]
    fn next(&mut self, sample: &Sample, no_load: Duration) -> Option<f64> {
        let ratio = whole_nanos(no_load) as f64 / whole_nanos(sample.rtt) as f64;
        let queue = libm::ceil(self.limit * (1.0 - ratio)) as i64;
        let lg = log10(self.limit);
        let in_lg = |times: u32| i64::from(times) * i64::from(lg);
        let (next, phase, reason) = if sample.dropped {
            ((self.decrease)(self.limit), "shrinking", "cut by a drop")
        } else if f64::from(sample.in_flight) * 2.0 < self.limit {
            self.phase = "less than half the limit used";
            return None;
        } else if queue <= in_lg(1) {
            (self.limit + in_lg(self.config.beta) as f64, "growing fast", "grown: no queue")
        } else if queue < in_lg(self.config.alpha) {
            (self.limit + f64::from(lg), "growing", "grown: a short queue")
        } else if queue > in_lg(self.config.beta) {
            ((self.decrease)(self.limit), "shrinking", "cut: a long queue")
        } else {
            self.phase = "queue within its bounds";
            return None;
        };
        (self.phase, self.reason) = (phase, reason);
        Some(next)
    }
}

impl Limit for Vegas {
    fn on_sample(&mut self, sample: &Sample) {
        let probing = self.is_time_to_probe(sample.op);
        if probing {
            (self.samples, self.jitter) = (0, None);
            self.probes = self.probes.wrapping_add(1);
        }
        match self.no_load {
            Some(no_load) if !probing && sample.rtt >= no_load => {
                if let Some(next) = self.next(sample, no_load) {
                    let next = next.min(f64::from(self.config.max)).max(1.0);
                    let smoothing = self.config.smoothing;
                    self.limit = (1.0 - smoothing) * self.limit + smoothing * next;
                }
            }
            _ => {
                self.no_load = Some(sample.rtt);
                self.phase = "measuring without load";
            }
        }
    }

    fn limit(&self) -> u32 {
        whole_part(self.limit).max(1)
    }

    fn report(&self, gauges: &mut Gauges) {
        if let Some(no_load) = self.no_load {
            gauges.draw(&NO_LOAD, no_load.as_secs_f64() * 1e3);
        }
        gauges.explain(self.phase, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the limit at first, and after each of these samples (round trip in ms, in flight).
    fn limits<const N: usize>(config: NetflixVegas, samples: [(u64, u32); N]) -> (u32, [u32; N]) {
        limits_of(Vegas::new(config, 1), samples)
    }

    fn limits_of<const N: usize>(mut vegas: Vegas, samples: [(u64, u32); N]) -> (u32, [u32; N]) {
        let first = vegas.limit();
        let limits = samples.map(|(millis, in_flight)| {
            vegas.on_sample(&Sample { rtt: Duration::from_millis(millis), in_flight, dropped: false, op: 0 });
            vegas.limit()
        });
        (first, limits)
    }

    fn from(initial: u32, max: u32) -> NetflixVegas {
        NetflixVegas { initial, max, ..NetflixVegas::default() }
    }

    #[test]
    fn the_vectors_of_vegas_limit_test_hold() {
        // The test's alpha of 3 and beta of 6 are the defaults while lg is 1.
        assert_eq!(limits(from(10, 20), [(10, 10), (10, 11)]), (10, [10, 16]));
        assert_eq!(limits(from(10, 20), [(10, 10), (50, 11)]), (10, [10, 9]));
        assert_eq!(limits(from(10, 20), [(10, 10), (14, 14)]), (10, [10, 10]));
        let large = limits(from(10_000, 20_000), [(10_000, 5000), (10_000, 6000)]);
        assert_eq!(large, (10_000, [10_000, 10_024]));
        let halving = |config| Vegas { decrease: |limit| limit / 2.0, ..Vegas::new(config, 1) };
        let smooth = halving(NetflixVegas { smoothing: 0.5, ..from(100, 200) });
        assert_eq!(limits_of(smooth, [(10, 100), (20, 100), (20, 100)]), (100, [100, 75, 56]));
        assert_eq!(
            limits_of(halving(from(100, 200)), [(10, 100), (20, 100), (20, 100)]),
            (100, [100, 50, 25])
        );
    }

    #[test]
    fn the_vectors_of_a_user_of_the_library_hold() {
        // From GreptimeDB's and HoraeDB's Java clients, `rpc/LimitTest.java`.
        let smooth = NetflixVegas { smoothing: 0.2, ..from(512, 1024) };
        assert_eq!(limits(smooth.clone(), [(10, 512), (10, 513)]), (512, [512, 514]));
        assert_eq!(limits(smooth, [(10, 512), (50, 513)]), (512, [512, 511]));
    }

    #[test]
    fn the_vectors_of_log10_root_int_function_test_hold() {
        assert_eq!([0.0, 1.0, 99.0, 100.0, 999.9, 1000.0, 10_000.0].map(log10), [1, 1, 1, 2, 2, 3, 4]);
    }

    #[test]
    fn a_drop_takes_lg_and_half_unused_holds() {
        let mut vegas = Vegas::new(from(100, 1000), 1);
        let mut next = |in_flight, dropped| {
            let rtt = Duration::from_millis(10);
            vegas.on_sample(&Sample { rtt, in_flight, dropped, op: 0 });
            vegas.limit()
        };
        assert_eq!(next(100, false), 100);
        assert_eq!([next(1, true), next(48, false), next(49, false)], [98, 98, 104]);
    }

    #[test]
    fn the_no_load_rtt_is_renewed_after_15_to_30_limits_of_samples() {
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let mut vegas = Vegas::new(NetflixVegas { alpha: 0, beta: 0, ..from(10, 10) }, seed);
            let sample =
                |millis| Sample { rtt: Duration::from_millis(millis), in_flight: 1, dropped: false, op: 0 };
            vegas.on_sample(&sample(10));
            let mut count = 1;
            while vegas.no_load == Some(Duration::from_millis(10)) {
                vegas.on_sample(&sample(20));
                count += 1;
            }
            assert!((150..=300).contains(&count), "{count}");
            lengths.insert(count);
        }
        assert!(lengths.len() > 20, "{lengths:?}");
    }

    #[test]
    fn one_quick_rejection_sets_the_no_load_rtt_for_good() {
        let mut vegas = Vegas::new(from(20, 1000), 1);
        vegas.on_sample(&Sample { rtt: Duration::from_millis(150), in_flight: 20, dropped: true, op: 0 });
        for _ in 0..100 {
            let in_flight = vegas.limit();
            vegas.on_sample(&Sample { rtt: Duration::from_millis(600), in_flight, dropped: false, op: 0 });
        }
        // The limit settles at a queue of 6 lg: 8 * (1 - 150/600) = 6.
        assert_eq!(vegas.limit(), 8);
    }
}
