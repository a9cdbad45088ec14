//! `percentile-hedging`: sends one copy of an attempt that takes longer than a percentile of recent latencies.
//!
//! Source: tower-rs/tower `tower/src/hedge/{mod,rotating_histogram,latency,select}.rs`. Latencies are rounded up to
//! whole milliseconds, and a histogram keeps them to three significant digits. One histogram records the latencies of
//! the current `period`. The delay of a copy is a percentile of the latencies of the previous period. This delay is
//! fixed when the attempt is sent. The first of the two attempts to end decides, whatever its outcome
//! (`after-failure=end`).
//!
//! The latency of every answer is recorded. Rejections are included, because tower counts them as responses. Cancelled
//! attempts and attempts without an answer, which are errors for tower, are not recorded. As in tower, the percentile
//! is rounded to a single-precision number. Tower has no default settings, so the defaults of this hedger are the
//! numbers in tower's test (`tower/tests/hedge/main.rs`).
//!
//! Finagle's `BackupRequestFilter` (twitter/finagle
//! `finagle-core/src/main/scala/com/twitter/finagle/client/BackupRequestFilter.scala`) waits for the other attempt if
//! the first to end has failed (`after-failure=wait`).

use std::time::Duration;

use hdrhistogram::Histogram;
use vocabulary::{parameters, whole_nanos};

use crate::gauges::HEDGE_DELAY;
use crate::hedger::{AfterFailure, Copies, Hedger};
use crate::part_config::part;
use crate::{AttemptEnd, Candidate, Failure, Gauges, Instant, Outcome, Status};

parameters! {
    pub(crate) struct PercentileHedging = "percentile-hedging" {
        percentile: f64 = 0.9,
            "percentile of earlier latencies, as a share; the copy is sent after that latency", 0.0..=1.0;
        min_samples: u32 = 10,
            "minimum number of answers in a period; after fewer, no copies are sent", 0..=1_000_000;
        period: Duration = Duration::from_mins(1),
            "length of the periods over which latencies are collected",
            Duration::from_millis(1)..=Duration::from_hours(24);
        after_failure: choice AfterFailure = AfterFailure::End, "what happens when one of the two attempts \
            fails: the copy is sent at once, the client waits for the other attempt, or the op fails";
    }
    summary = "sends a copy of an attempt that takes longer than most others";
    rule = "one copy is sent when an attempt takes longer than the `percentile` of the latencies in the \
        previous period, if that period had at least `min-samples` of them. The first of the two attempts \
        that succeeds decides the op, or with after-failure=end the first that ends. The mock server draws \
        the work time of an op once and uses it for all attempts of the op. So copies help against slow \
        networks, queues and lost messages, but not against long work";
    source = "tower-rs/tower tower/src/hedge/{mod,rotating_histogram,latency,select}.rs";
}

part!(PercentileHedging: Hedging, |config, _| Rotating::new(config));

struct Rotating {
    config: PercentileHedging,
    /// Histogram of the latencies of the current period in milliseconds. It is `None` until the first latency is
    /// recorded, because a histogram takes 16 KiB and there may be many clients.
    written: Option<Histogram<u64>>,
    /// Number of the latencies that were recorded in the previous period, and their configured percentile.
    read: (u64, Duration),
    rotated: Instant,
}

impl Rotating {
    fn new(config: PercentileHedging) -> Self {
        Self { config, written: None, read: (0, Duration::ZERO), rotated: Instant::ORIGIN }
    }

    /// At the end of a period, replaces `read` by a summary of the latencies recorded in that period. If further
    /// periods have passed since then, the latest of them had no latencies, so `read` is empty.
    fn rotate(&mut self, now: Instant) {
        let (age, period) = (whole_nanos(now.since(self.rotated)), whole_nanos(self.config.period));
        let rotations = age / period;
        if rotations == 0 {
            return;
        }
        let written = self.written.take().filter(|_| rotations == 1);
        #[expect(clippy::cast_possible_truncation, reason = "tower keeps it in single precision")]
        let quantile = f64::from(self.config.percentile as f32);
        self.read = written.map_or((0, Duration::ZERO), |written| {
            (written.len(), Duration::from_millis(at_quantile(&written, quantile)))
        });
        self.rotated = self.rotated + Duration::from_nanos(period.saturating_mul(rotations));
    }
}

impl Hedger for Rotating {
    fn on_sent(&mut self, now: Instant, _launch: &Candidate) -> Option<Copies> {
        self.rotate(now);
        let (count, delay) = self.read;
        (count >= u64::from(self.config.min_samples)).then_some(Copies { count: 1, delay })
    }

    fn after_failure(&self) -> AfterFailure {
        self.config.after_failure
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        let answered = matches!(
            outcome.status,
            Status::Succeeded | Status::Rejected | Status::Failed(Failure::Server | Failure::Fatal)
        );
        if answered {
            self.rotate(now);
            let latency = now.since(ended.sent_at);
            let written = self.written.get_or_insert_with(empty_histogram);
            *written += whole_nanos(latency).div_ceil(1_000_000);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        let (count, delay) = self.read;
        if count > 0 && count >= u64::from(self.config.min_samples) {
            gauges.draw(&HEDGE_DELAY, delay.as_secs_f64() * 1e3);
        }
    }
}

fn empty_histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three significant digits are accepted")
}

fn at_quantile(histogram: &Histogram<u64>, quantile: f64) -> u64 {
    // The result is the highest value in the histogram bucket. At quantile 0, `value_at_quantile` alone would return
    // the lowest one.
    histogram.highest_equivalent(histogram.value_at_quantile(quantile))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, launch};

    const MS: u64 = 1_000_000;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn rotating(config: PercentileHedging) -> Rotating {
        Rotating::new(config)
    }

    /// Ends an attempt at `now` that took `took` nanoseconds.
    fn ends(rotating: &mut Rotating, now: Instant, took: u64, outcome: Outcome) {
        let sent_at = Instant::from_nanos(now.as_nanos() - took);
        rotating.on_ended(now, &AttemptEnd { sent_at, ..ended(0, 1) }, &outcome);
    }

    fn delay(rotating: &mut Rotating, now: Instant) -> Option<u64> {
        let copies = rotating.on_sent(now, &launch(0, None))?;
        assert_eq!(copies.count, 1);
        Some(u64::try_from(copies.delay.as_millis()).unwrap())
    }

    /// tower, `tests/hedge/main.rs`: ten latencies, two of them 10 ms, so the copy follows after 10 ms.
    #[test]
    fn the_vector_of_tower_comes_out() {
        let mut hedge = rotating(PercentileHedging::default());
        for took in [1, 1, 1, 1, 1, 1, 1, 1, 10, 10] {
            ends(&mut hedge, at(50), took * MS, OK);
        }
        assert_eq!(delay(&mut hedge, at(59_999)), None, "nothing is read before a period is over");
        assert_eq!(delay(&mut hedge, at(60_000)), Some(10));
    }

    #[test]
    fn below_the_least_number_of_answers_no_copy_is_sent() {
        for (count, wanted) in [(9, None), (10, Some(5))] {
            let mut hedge = rotating(PercentileHedging::default());
            (0..count).for_each(|_| ends(&mut hedge, at(50), 5 * MS, OK));
            assert_eq!(delay(&mut hedge, at(60_000)), wanted);
        }
        let mut none = rotating(PercentileHedging { min_samples: 0, ..PercentileHedging::default() });
        assert_eq!(delay(&mut none, at(0)), Some(0), "as an empty histogram says");
    }

    /// A period is forgotten even if no hedging delay is read for two periods. Rotations stay on the grid of whole
    /// periods.
    #[test]
    fn a_period_is_read_for_one_period_and_then_forgotten() {
        let config = PercentileHedging {
            min_samples: 1,
            period: Duration::from_secs(1),
            ..PercentileHedging::default()
        };
        let mut hedge = rotating(config.clone());
        ends(&mut hedge, at(900), 7 * MS, OK);
        ends(&mut hedge, at(1100), 9 * MS, OK);
        assert_eq!([delay(&mut hedge, at(1200)), delay(&mut hedge, at(1999))], [Some(7); 2]);
        assert_eq!(delay(&mut hedge, at(2300)), Some(9));
        assert_eq!(delay(&mut hedge, at(3000)), None, "nothing came in the period before");
        let mut hedge = rotating(config);
        ends(&mut hedge, at(900), 7 * MS, OK);
        assert_eq!(delay(&mut hedge, at(2000)), None);
        // Rotations stay on the grid of whole periods: the next one is at 3 s.
        ends(&mut hedge, at(2700), 4 * MS, OK);
        assert_eq!(delay(&mut hedge, at(3000)), Some(4));
    }

    #[test]
    fn only_answers_record_a_latency_rounded_up_to_milliseconds() {
        let config = PercentileHedging { percentile: 1.0, min_samples: 1, ..PercentileHedging::default() };
        let mut hedge = rotating(config);
        ends(&mut hedge, at(100), 1_000_001, REJECTED);
        ends(&mut hedge, at(100), 5, FATAL);
        ends(&mut hedge, at(100), 50 * MS, TIMEOUT);
        ends(&mut hedge, at(100), 60 * MS, CANCELLED);
        assert_eq!(hedge.written.as_ref().map(Histogram::len), Some(2));
        assert_eq!(delay(&mut hedge, at(60_000)), Some(2));
    }

    #[test]
    fn numbers_are_kept_to_three_digits_as_in_hdrhistogram() {
        for (value, wanted) in
            [(0, 0), (2047, 2047), (2048, 2049), (4095, 4095), (10_000, 10_007), (1 << 20, 1_049_599)]
        {
            let mut histogram = empty_histogram();
            histogram += value;
            assert_eq!(at_quantile(&histogram, 0.5), wanted, "{value}");
        }
    }

    #[test]
    fn the_share_is_one_of_single_precision() {
        let mut histogram = empty_histogram();
        (1..=10).for_each(|value| histogram += value);
        // In single precision, 0.9 and 0.7 are slightly below their decimal values, and 0.6 is slightly above.
        let quantiles = [0.9_f32, 0.7, 0.6, 0.0, 1.0].map(|share| at_quantile(&histogram, f64::from(share)));
        assert_eq!(quantiles, [9, 7, 7, 1, 10]);
    }
}
