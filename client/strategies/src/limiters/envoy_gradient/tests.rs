//! Unit tests of the source, with its numbers: envoyproxy/envoy
//! `test/extensions/filters/http/adaptive_concurrency/controller/gradient_controller_test.cc`.

use super::*;
use crate::testing::{CANCELLED, OK, REJECTED, ended, view};
use crate::{Admit, Until};

/// Start of the tests in milliseconds, late enough that latencies can be subtracted.
const START: u64 = 1_000_000;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(START + millis)
}

/// Returns the settings of most tests of the source: no jitter, probes of five samples.
fn config() -> EnvoyGradientConfig {
    EnvoyGradientConfig {
        jitter: 0.0,
        probe_every: Duration::from_secs(30),
        probe_samples: 5,
        ..EnvoyGradientConfig::default()
    }
}

fn new(config: EnvoyGradientConfig) -> EnvoyGradient {
    EnvoyGradient::new(config, 1)
}

/// Ends `count` attempts at `now` that took `latency` milliseconds each.
fn sample(limiter: &mut EnvoyGradient, now: u64, count: u32, latency: u64) {
    for _ in 0..count {
        let end = AttemptEnd { sent_at: ms(now - latency), ..ended(0, 2) };
        limiter.on_ended(ms(now), &end, &OK);
    }
}

fn best_ms(limiter: &EnvoyGradient) -> u64 {
    whole(limiter.best_us / 1000.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not below zero")]
fn whole(number: f64) -> u64 {
    number as u64
}

fn is_probing(limiter: &EnvoyGradient) -> bool {
    matches!(limiter.phase, Phase::Probing { .. })
}

/// Returns a limiter that has just measured 5 ms as the best latency, at 10 ms.
fn probed(config: EnvoyGradientConfig) -> EnvoyGradient {
    let mut limiter = new(config);
    sample(&mut limiter, 10, 5, 5);
    assert_eq!((best_ms(&limiter), is_probing(&limiter)), (5, false));
    limiter
}

/// `DefaultValuesTest`.
#[test]
fn defaults_are_those_of_the_proto() {
    let EnvoyGradientConfig { max, probe_samples, percentile, jitter, min, buffer, .. } =
        EnvoyGradientConfig::default();
    assert_eq!((max, probe_samples, min), (1000, 50, 3));
    assert_eq!([percentile, jitter, buffer].map(f64::to_bits), [50.0, 0.15, 0.25].map(f64::to_bits));
}

/// `MinRTTLogicTest`.
#[test]
fn the_best_latency_is_measured_at_the_least_window() {
    let mut limiter = new(EnvoyGradientConfig { min: 7, probe_samples: 50, ..config() });
    assert_eq!(limiter.poll(ms(0), &view(6, 0)), Admit::Go);
    assert_eq!(limiter.poll(ms(0), &view(7, 0)), Admit::Wait(Until::Event));
    sample(&mut limiter, 13, 49, 13);
    assert_eq!((is_probing(&limiter), limiter.window), (true, 7));
    sample(&mut limiter, 13, 1, 13);
    assert_eq!((is_probing(&limiter), best_ms(&limiter)), (false, 13));
}

/// `CancelLatencySample`, `SamplePercentileProcessTest`.
#[test]
fn the_median_counts_and_what_was_withdrawn_does_not() {
    let mut limiter = new(config());
    for latency in 1..=5 {
        sample(&mut limiter, 10, 1, latency);
        limiter.on_ended(ms(10), &ended(0, 2), &CANCELLED);
    }
    assert_eq!(best_ms(&limiter), 3);
}

/// `MinRTTEpoch`.
#[test]
fn samples_sent_before_a_probe_are_ignored() {
    let mut limiter = probed(config());
    limiter.catch_up(ms(30_010));
    assert_eq!((is_probing(&limiter), limiter.window), (true, 3));
    sample(&mut limiter, 31_000, 30, 5000);
    assert!(is_probing(&limiter));
    sample(&mut limiter, 31_000, 5, 5);
    assert!(!is_probing(&limiter));
}

/// `MinRTTBufferTest`.
#[test]
fn latency_within_the_buffer_lets_the_window_grow() {
    let mut limiter = probed(EnvoyGradientConfig { buffer: 0.5, ..config() });
    for round in 1..=10 {
        let before = limiter.window;
        sample(&mut limiter, 10 + 100 * round - 1, 5, 6);
        limiter.catch_up(ms(10 + 100 * round));
        assert!(limiter.window > before);
    }
}

/// `ConcurrencyLimitBehaviorTestBasic`, with the numbers from its rule.
#[test]
fn the_window_follows_the_gradient_and_leaves_room_for_its_root() {
    let mut limiter = probed(EnvoyGradientConfig { buffer: 0.1, min: 7, ..config() });
    // 5.05 · 1.1 / 4.05 = 1.3716: 9.6 + 3.1, 16.4 + 4.2 ….
    let mut windows = [4; 3].into_iter().enumerate().map(|(round, latency)| {
        let now = 110 + 100 * round as u64;
        sample(&mut limiter, now - 1, 5, latency);
        limiter.catch_up(ms(now));
        limiter.window
    });
    assert_eq!([windows.next(), windows.next(), windows.next()], [Some(12), Some(20), Some(32)]);
    drop(windows);
    for round in 0..10 {
        let before = limiter.window;
        sample(&mut limiter, 1109 + 100 * round, 5, 10);
        limiter.catch_up(ms(1110 + 100 * round));
        assert!(limiter.window <= before && limiter.window >= 7, "{}", limiter.window);
    }
    assert_eq!(limiter.window, 7);
}

/// `MinRTTReturnToPreviousLimit`, `MinRTTRescheduleTest`.
#[test]
fn after_a_probe_the_window_is_what_it_was() {
    let mut limiter = probed(config());
    for round in 0..5 {
        sample(&mut limiter, 100 + 100 * round, 5, 4);
        limiter.catch_up(ms(110 + 100 * round));
    }
    let window = limiter.window;
    assert!(window > 3);
    limiter.catch_up(ms(31_000));
    assert_eq!(limiter.window, 3);
    limiter.catch_up(ms(31_101));
    sample(&mut limiter, 32_000, 5, 13);
    assert_eq!((limiter.window, best_ms(&limiter)), (window, 13));
}

/// `NoSamplesTest`.
#[test]
fn without_samples_the_window_stays() {
    let mut limiter = probed(config());
    sample(&mut limiter, 50, 5, 4);
    limiter.catch_up(ms(110));
    let window = limiter.window;
    limiter.catch_up(ms(29_999));
    assert_eq!(limiter.window, window);
    // Intervals stay on their grid.
    assert_eq!(limiter.phase, Phase::Sampling { until: ms(30_010), probe_at: ms(30_010) });
}

/// `TimerAccuracyTest`, `TimerAccuracyTestNoJitter`.
#[test]
fn probes_come_up_to_the_jitter_late() {
    let seconds = Duration::from_secs;
    assert_eq!(jittered(seconds(100), 0.1, 15_000), seconds(105));
    assert_eq!(jittered(seconds(45), 0.0, 15_000), seconds(45));
}

/// `ConsecutiveMinConcurrencyReset`.
#[test]
fn five_intervals_at_the_minimum_window_remeasure_latency() {
    let mut limiter = probed(EnvoyGradientConfig { buffer: 0.0, min: 7, ..config() });
    let mut now = 10;
    let mut interval = |limiter: &mut EnvoyGradient| {
        now += 100;
        sample(limiter, now - 1, 5, 10);
        limiter.catch_up(ms(now));
    };
    for _ in 0..4 {
        interval(&mut limiter);
        assert!(!is_probing(&limiter));
    }
    interval(&mut limiter);
    assert_eq!((is_probing(&limiter), limiter.window), (true, 7));
    // The best latency is now 10 ms, so answers of 10 ms are no longer slow.
    interval(&mut limiter);
    assert_eq!((is_probing(&limiter), best_ms(&limiter)), (false, 10));
    for _ in 0..10 {
        let before = limiter.window;
        interval(&mut limiter);
        assert!(limiter.window >= before);
    }
    assert!(limiter.window > 7);
}

#[test]
fn rejections_are_fast_answers_unless_only_successes_count() {
    for (samples, probing) in [(Samples::All, false), (Samples::Successes, true)] {
        let mut limiter = new(EnvoyGradientConfig { samples, ..config() });
        for _ in 0..5 {
            limiter.on_ended(ms(1), &AttemptEnd { sent_at: ms(0), ..ended(0, 2) }, &REJECTED);
        }
        assert_eq!(is_probing(&limiter), probing);
    }
}

#[test]
fn it_wakes_only_while_there_is_something_to_judge() {
    let mut limiter = probed(config());
    limiter.on_ended(ms(10), &ended(0, 1), &CANCELLED);
    assert_eq!(limiter.timer(), None, "nothing is in flight");
    limiter.on_sent(ms(20), &view(0, 1));
    assert_eq!(limiter.timer(), Some(ms(30_010)), "nothing was sampled");
    sample(&mut limiter, 50, 1, 5);
    assert_eq!(limiter.timer(), Some(ms(110)));
    limiter.on_timer(ms(110));
    assert_eq!(limiter.timer(), Some(ms(30_010)));
}

mod log_linear {
    use crate::limiters::envoy_gradient::*;

    fn of(values: &[u64]) -> LogLinear {
        let mut histogram = LogLinear::new();
        values.iter().copied().for_each(|value| histogram.insert(value));
        histogram
    }

    #[track_caller]
    fn quantile(values: &[u64], share: f64, wanted: f64) {
        let found = of(values).quantile(share).expect("there are values");
        assert!((found - wanted).abs() < 1e-6 * wanted.max(1.0), "{found} instead of {wanted}");
    }

    #[test]
    fn values_keep_two_digits_and_lie_evenly_in_their_bin() {
        quantile(&[1000, 2000, 3000, 4000, 5000], 0.5, 3050.0);
        quantile(&[13_999; 50], 0.5, 13_500.0);
        quantile(&[600_123; 4], 0.25, 602_500.0);
        quantile(&[7; 10], 0.5, 7.05);
        quantile(&[0, 0, 0, 8], 0.5, 0.0);
    }

    #[test]
    fn the_ends_of_bins_are_quantiles_themselves() {
        quantile(&[10, 20], 0.5, 11.0);
        quantile(&[10, 20], 0.0, 10.0);
        quantile(&[10, 20], 1.0, 21.0);
    }

    #[test]
    fn it_takes_every_value_and_forgets_all() {
        let mut histogram = of(&[0, 1, 9, 10, 99, 100, u64::MAX]);
        assert_eq!(histogram.total, 7);
        histogram.clear();
        assert_eq!((histogram.total, histogram.quantile(0.5)), (0, None));
    }
}
