//! `netflix-aimd`: grows by one with every success while at least half of the limit is used, and shrinks by a tenth
//! with every drop.
//!
//! Source: Netflix/concurrency-limits, `limit/AIMDLimit.java`, which truncates the limit to a whole number at every
//! step. Every dropped attempt cuts the limit, even if several attempts of one burst are dropped. By default the limit
//! does not fall below 20 (`min`), so it cannot adapt to servers with a smaller limit. At full use it doubles with
//! every round trip, because it grows by one per success. With `windowed=true` it grows by one per second.

use std::time::Duration;

use vocabulary::{DAY, parameters};

use super::netflix::{Limit, NetflixLimiter, Sample, Windowed};
use super::whole_part;
use crate::Gauges;
use crate::part_config::part;

parameters! {
    pub(crate) struct NetflixAimd = "netflix-aimd" {
        initial: u32 = 20, "initial limit, in attempts in flight", 1..=1_000_000_000;
        min: u32 = 20, "minimum limit", 1..=1_000_000_000;
        max: u32 = 200, "maximum limit; it wins if it is below `min`", 1..=1_000_000_000;
        ratio: f64 = 0.9, "share of the limit that remains after a drop", 0.5..=0.999;
        rtt_timeout: Duration = Duration::from_secs(5),
            "round trip above which an answer counts as a drop", Duration::from_nanos(1)..=DAY;
        windowed: choice Windowed = Windowed::No, Windowed::ABOUT;
    }
    summary = "Netflix AIMDLimit: grows by one per success, shrinks by a tenth per drop";
    rule = "an attempt may start while fewer than limit are in flight. An attempt counts as dropped if it \
        was rejected, timed out, got no connection, or took longer than `rtt-timeout`; then limit = \
        floor(limit * ratio). Otherwise, the limit grows by 1 if at least half of it was in flight when the \
        attempt was sent. The limit is at least `min` and at most `max`";
    source = "Netflix/concurrency-limits limit/AIMDLimit.java";
}

part!(NetflixAimd: Limiter, |config, _| NetflixLimiter::new(config.windowed, Aimd::new(config)));

struct Aimd {
    config: NetflixAimd,
    limit: u32,
    phase: &'static str,
    reason: &'static str,
}

impl Aimd {
    fn new(config: NetflixAimd) -> Self {
        Self { limit: config.initial, config, phase: "growing", reason: "started" }
    }
}

impl Limit for Aimd {
    fn on_sample(&mut self, sample: &Sample) {
        let mut limit = self.limit;
        if sample.dropped || sample.rtt > self.config.rtt_timeout {
            limit = whole_part(f64::from(limit) * self.config.ratio);
            self.phase = "shrinking";
            self.reason = if sample.dropped { "cut by a drop" } else { "cut by a slow answer" };
        } else if u64::from(sample.in_flight) * 2 >= u64::from(limit) {
            limit += 1;
            self.phase = "growing";
            self.reason = "grown by a success";
        } else {
            self.phase = "less than half the limit used";
        }
        self.limit = limit.max(self.config.min).min(self.config.max);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.explain(self.phase, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rtt: Duration, in_flight: u32, dropped: bool) -> Sample {
        Sample { rtt, in_flight, dropped, op: 0 }
    }

    #[track_caller]
    fn next(config: NetflixAimd, sample: &Sample) -> u32 {
        let mut aimd = Aimd::new(config);
        aimd.on_sample(sample);
        aimd.limit()
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_vectors_of_aimd_limit_test_hold() {
        let from = |initial| NetflixAimd { initial, ..NetflixAimd::default() };
        assert_eq!(Aimd::new(from(10)).limit(), 10);
        assert_eq!(next(from(20), &sample(MS, 10, false)), 21);
        assert_eq!(next(from(30), &sample(Duration::ZERO, 0, true)), 27);
        // The source has `minLimit(0)`. A limit of 0, which could never grow again, is not accepted here.
        let full = NetflixAimd { max: 21, min: 1, ..from(21) };
        assert_eq!(next(full, &sample(MS, 10, false)), 21);
    }

    #[test]
    fn an_answer_slower_than_the_timeout_is_a_drop() {
        let config = NetflixAimd { initial: 40, ..NetflixAimd::default() };
        let timeout = config.rtt_timeout;
        assert_eq!(next(config.clone(), &sample(timeout, 20, false)), 41);
        assert_eq!(next(config, &sample(timeout + MS, 20, false)), 36);
    }

    #[test]
    fn less_than_half_in_use_does_not_grow() {
        let config = NetflixAimd { initial: 41, ..NetflixAimd::default() };
        assert_eq!(next(config.clone(), &sample(MS, 20, false)), 41);
        assert_eq!(next(config, &sample(MS, 21, false)), 42);
    }

    #[test]
    fn cuts_are_cut_to_whole_numbers_and_end_at_the_least() {
        let mut aimd = Aimd::new(NetflixAimd { initial: 29, ..NetflixAimd::default() });
        let limits = [(); 4].map(|()| {
            aimd.on_sample(&sample(MS, 29, true));
            aimd.limit()
        });
        assert_eq!(limits, [26, 23, 20, 20]);
    }
}
