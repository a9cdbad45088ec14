//! `aws-adaptive`: the rate limit of the AWS SDKs, cut by throttling and grown along CUBIC's curve.
//!
//! Source: boto/botocore `botocore/retries/{adaptive,bucket,throttling}.py`; smithy-lang/smithy-typescript
//! `packages/core/src/submodules/retry/util-retry/DefaultRateLimiter.ts`; smithy-lang/smithy-rs
//! `rust-runtime/aws-smithy-runtime/src/client/retries/client_rate_limiter.rs`. If the sources differ, this limiter
//! follows botocore and the JavaScript SDK. So the measured rate starts at 0 (in Rust at 0.5). A request that waits for
//! tokens is charged only when enough tokens are available. (The Rust SDK charged waiting requests at once, so the
//! bucket stayed empty: smithy-rs#4632.) Before the first throttling answer, the limiter admits everything.
//!
//! Before retry spec 2.1, the Rust SDK charged 5 tokens for a retry, and 10 for a retry after throttling. `costs=older`
//! selects these costs. A bucket with a slow rate cannot hold 5 or 10 tokens. In this case a retry is admitted when the
//! bucket is full, and the number of tokens then becomes negative. In the older Rust SDK, the wait for tokens replaced
//! the back-off; in this limiter it follows the back-off.
//!
//! With `costs=older`, the rate can fall to its minimum while most attempts are retries. A retry costs up to 10 tokens,
//! so the measured rate of answers can be only a tenth of the token rate. But the token rate is limited to twice the
//! measured rate.

use std::time::Duration;

use super::bucket::Bucket;
use super::curve::Curve;
use crate::gauges::{RATE, TOKENS};
use crate::part_config::part;
use crate::{
    Admit, AttemptEnd, Candidate, Classification, Gauges, Instant, Limiter, LimiterView, Outcome, Status,
};
use vocabulary::{Purpose, Rate, choices, draws, parameters, unit, whole_nanos};

choices! {
    enum Costs {
        One = "one",
        Older = "older",
    }
}

impl Costs {
    fn of(self, launch: &Candidate) -> f64 {
        match (self, launch.last, launch.last_classification) {
            (Self::One, ..) | (Self::Older, None, _) => 1.0,
            (Self::Older, Some(_), Classification::Throttled) => 10.0,
            (Self::Older, Some(_), _) => 5.0,
        }
    }
}

parameters! {
    pub(crate) struct AwsAdaptiveConfig = "aws-adaptive" {
        beta: f64 = 0.7, "share of the rate that remains after a throttling answer", 0.01..=0.999;
        scale: f64 = 0.4, "factor for how steeply the rate grows after a cut", 0.001..=1e3;
        smooth: f64 = 0.8, "weight of the last half second in the measured rate, from 0 to 1", 0.01..=1.0;
        min_rate: Rate = Rate::per_second(0.5), "minimum rate of attempts", 0.001..=1e6;
        min_capacity: f64 = 1.0, "minimum size of the bucket in tokens", 1.0..=1e6;
        costs: choice Costs = Costs::One,
            "tokens that a retry costs: one, or (`older`) 5, and 10 after throttling";
        created: Duration = Duration::ZERO,
            "maximum time from the client's creation to the start of the run; the actual time is drawn at random",
            Duration::ZERO..=Duration::from_secs(1);
    }
    summary = "rate limit of the AWS SDKs: cut when throttled, then grows as in CUBIC";
    rule = "there is no limit until the first throttling answer. Every half second, measured = smooth * \
        answers per second + (1 - smooth) * measured. After a throttling answer, w = min(measured, rate), t0 \
        = now and new = beta * w. After any other answer, new = scale * (now - t0 - k)^3 + w, where k = \
        cbrt(w * (1 - beta) / scale). Then rate = max(min-rate, min(new, 2 * measured)), and the token \
        bucket holds max(min-capacity, min(new, 2 * measured)) tokens. An attempt takes a token; with \
        costs=older, a retry takes 5, after throttling 10. If there are too few tokens, it waits (1 - \
        tokens) / rate and tries again";
    source = "boto/botocore botocore/retries/adaptive.py, bucket.py, throttling.py; \
        smithy-lang/smithy-typescript DefaultRateLimiter.ts; smithy-lang/smithy-rs client_rate_limiter.rs";
}

part!(AwsAdaptiveConfig: Limiter, |config, context| {
    let mut limiter = AwsAdaptive::new(config);
    // The imitated SDKs measure the rate of answers in half seconds of the wall clock. Therefore, all clients of a
    // run start at the same random point within a half second. The first half second is that of the client's creation:
    // if the first answer comes in a later one, its rate counts.
    let mut random = draws(context.seed, Purpose::Probe, 0, 0);
    let begun = unit(&mut random) * HALF as f64 + unit(&mut random) * whole_nanos(limiter.config.created) as f64;
    limiter.measured.begun = whole_nanos(vocabulary::nanos(begun));
    limiter
});

/// Rate of the server's answers per second. The rate is a moving average over the half seconds in which answers
/// arrived.
#[derive(Clone, Copy, Debug)]
struct Measured {
    smooth: f64,
    per_s: f64,
    answers: u32,
    /// Index of the half second in which the rate was last measured. The half second in which the client was created has
    /// index 0.
    half: u64,
    /// Time from the start of half second 0 to the origin of time, in nanoseconds.
    begun: u64,
}

/// Interval in which the rate of answers is measured: half a second, in nanoseconds.
const HALF: u64 = 500_000_000;

impl Measured {
    fn on_answer(&mut self, now: Instant) {
        self.answers = self.answers.saturating_add(1);
        let half = now.as_nanos().saturating_add(self.begun) / HALF;
        if half > self.half {
            let lately = f64::from(self.answers) / ((half - self.half) as f64 / 2.0);
            self.per_s = lately * self.smooth + self.per_s * (1.0 - self.smooth);
            self.answers = 0;
            self.half = half;
        }
    }
}

struct AwsAdaptive {
    config: AwsAdaptiveConfig,
    enabled: bool,
    curve: Curve,
    measured: Measured,
    bucket: Bucket,
    reason: &'static str,
}

impl AwsAdaptive {
    fn new(config: AwsAdaptiveConfig) -> Self {
        let AwsAdaptiveConfig { beta, scale, smooth, min_rate, min_capacity, .. } = config;
        Self {
            enabled: false,
            curve: Curve::new(beta, scale),
            measured: Measured { smooth, per_s: 0.0, answers: 0, half: 0, begun: 0 },
            bucket: Bucket::new(min_rate.per_s(), min_capacity, 0.0),
            reason: "never throttled",
            config,
        }
    }

    fn on_answer(&mut self, now: Instant, throttled: bool) {
        self.measured.on_answer(now);
        let measured = self.measured.per_s;
        let new = if throttled {
            let rate = if self.enabled { measured.min(self.bucket.rate) } else { measured };
            self.enabled = true;
            self.reason = "cut by throttling";
            self.curve.cut(now, rate);
            self.curve.floor()
        } else {
            if self.enabled {
                self.reason = "not throttled";
            }
            self.curve.after(self.curve.age(now))
        };
        let new = new.min(2.0 * measured);
        self.bucket.set(now, new.max(self.config.min_rate.per_s()), new.max(self.config.min_capacity));
    }
}

impl Limiter for AwsAdaptive {
    fn poll(&self, now: Instant, view: &LimiterView) -> Admit {
        if !self.enabled {
            return Admit::Go;
        }
        self.bucket.admit(now, self.config.costs.of(&view.candidate))
    }

    fn on_sent(&mut self, now: Instant, view: &LimiterView) {
        if self.enabled {
            self.bucket.take(now, self.config.costs.of(&view.candidate));
        }
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome) {
        match outcome.status {
            // A deferred launch is not an attempt, so one token is refunded. With `costs=older` a retry costs more than
            // one token, and the rest is not refunded.
            Status::Deferred if self.enabled => self.bucket.refund(now, 1.0),
            Status::Cancelled | Status::Shed | Status::Deferred => {}
            _ => self.on_answer(now, outcome.classification == Classification::Throttled),
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        if self.enabled {
            gauges.draw(&RATE, self.bucket.rate);
            gauges.draw(&TOKENS, self.bucket.tokens());
        }
        gauges.explain(if self.enabled { "limited" } else { "not limited" }, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::seconds;
    use super::*;
    use crate::Until;
    use crate::testing::{OK, REJECTED, ended, launch, view};

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn new() -> AwsAdaptive {
        AwsAdaptive::new(AwsAdaptiveConfig::default())
    }

    #[track_caller]
    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-9, "{value} instead of {wanted}");
    }

    /// smithy-rs `client_rate_limiter.rs`, `test_calculated_rate_with_throttles`. Its top is the rate *after* the
    /// cut.
    #[test]
    fn the_curve_falls_and_grows_as_the_sdks_tests_have_it() {
        let mut curve = Curve::new(0.7, 0.4);
        curve.cut(ms(5000), 10.0);
        let mut rate = 0.0;
        for (at, throttled, wanted) in [
            (5, false, 7.0),
            (6, false, 9.648_936_009_66),
            (7, true, 6.754_255_206_761_999),
            (8, true, 4.727_978_644_733_399),
            (9, false, 4.670_125_557_970_046),
            (10, false, 4.770_870_456_867_401),
            (11, false, 6.011_819_748_005_445),
            (12, false, 10.792_973_431_384_178),
        ] {
            if throttled {
                rate *= 0.7;
                curve.cut(ms(1000 * at), rate);
            } else {
                rate = curve.after(curve.age(ms(1000 * at)));
            }
            near(rate, wanted);
        }
    }

    /// botocore `tests/unit/retries/test_adaptive.py`, `TestRateClocker`.
    #[test]
    fn the_rate_is_measured_as_botocores_tests_have_it() {
        let per_s = |answers: &[u64]| {
            let mut measured = new().measured;
            for at in answers {
                measured.on_answer(ms(*at));
            }
            measured.per_s
        };
        near(per_s(&[1000]), 0.8);
        near(per_s(&[100, 200, 300, 400, 490]), 0.0);
        near(per_s(&[100, 200, 300, 400, 490, 500]), 9.6);
        let steady: Vec<u64> = (1..=20).map(|second| 1000 * second).collect();
        assert!((per_s(&steady) - 1.0).abs() < 1e-7);
        let busy = [1000, 1500, 2000, 2500, 3000, 3500, 4000];
        assert!((1.99..=2.0).contains(&per_s(&busy)));
        assert!((0.1..=2.0).contains(&per_s(&[&busy[..], &[14_000]].concat())));
    }

    /// smithy-rs `client_rate_limiter.rs`, `test_client_sending_rates`: time in ms, throttled, measured rate, rate.
    #[test]
    fn rates_are_those_of_the_sdks_tests() {
        let mut limiter = new();
        for (at, throttled, measured, rate) in [
            (200, false, 0.0, 0.5),
            (400, false, 0.0, 0.5),
            (600, false, 4.8, 0.5),
            (800, false, 4.8, 0.5),
            (1000, false, 4.16, 0.5),
            (1200, false, 4.16, 0.6912),
            (1400, false, 4.16, 1.0976),
            (1600, false, 5.632, 1.6384),
            (1800, false, 5.632, 2.3328),
            (2000, true, 4.3264, 3.028_48),
            (2200, false, 4.3264, 3.486_639_173_470_26),
            (2400, false, 4.3264, 3.821_874_416_040_255),
            (2600, false, 5.665_28, 4.053_385_727_709_987),
            (2800, false, 5.665_28, 4.200_373_108_479_454),
            (3000, false, 4.333_056, 4.282_036_558_348_658),
            (3200, true, 4.333_056, 2.997_425_590_844_06),
            (3400, false, 4.333_056, 3.452_226_394_386_346_3),
        ] {
            limiter.on_answer(ms(at), throttled);
            near(limiter.measured.per_s, measured);
            near(limiter.bucket.rate, rate);
        }
    }

    /// Sends the candidate of `view` as soon as it may start. Returns that instant.
    fn send(limiter: &mut AwsAdaptive, now: Instant, view: &LimiterView) -> Instant {
        let at = match limiter.poll(now, view) {
            Admit::Wait(Until::At(at)) => at,
            _ => now,
        };
        assert_eq!(limiter.poll(at, view), Admit::Go);
        limiter.on_sent(at, view);
        at
    }

    #[test]
    fn nothing_is_limited_before_the_first_throttling() {
        let mut limiter = new();
        for op in 0..1000 {
            assert_eq!(send(&mut limiter, ms(0), &view(0, op)), ms(0));
            limiter.on_ended(ms(0), &ended(op, 1), &OK);
        }
        limiter.on_ended(ms(0), &ended(0, 1), &REJECTED);
        assert_ne!(limiter.poll(ms(0), &view(0, 0)), Admit::Go);
    }

    /// Recorded with the AWS SDK for JavaScript (S3 3.1169.0, `retryMode: adaptive`) against endless 503 `SlowDown`:
    /// one attempt every two seconds.
    #[test]
    fn an_always_throttling_server_gets_one_send_per_two_seconds() {
        let mut limiter = new();
        let mut now = ms(0);
        for attempt in 0..200_u64 {
            now = send(&mut limiter, now, &view(0, attempt));
            assert_eq!(now, ms(2000 * attempt));
            limiter.on_ended(now, &ended(attempt, 1), &REJECTED);
        }
    }

    /// Recorded with botocore 1.44.8 and the AWS SDK for JavaScript (S3 3.1175.0): if the first answer comes in a later
    /// half second than the client's creation, the measured rate is 1.6/s, and the first waits are shorter.
    #[test]
    fn a_client_created_in_an_earlier_half_second_starts_faster() {
        let mut limiter = new();
        limiter.measured.begun = HALF;
        limiter.on_ended(ms(0), &ended(0, 1), &REJECTED);
        near(limiter.bucket.rate, 1.12);
    }

    /// Recorded with the AWS SDK for JavaScript (S3 3.1169.0): 60 ops, each 50 ms after the previous one, every tenth
    /// of which is throttled once. Waits are in ms: before an op's first attempt, and before the retry of a throttled
    /// op, including its back-off. The clock was 484 ms past a second; with any other phase the half seconds would
    /// differ.
    #[test]
    fn the_waits_recorded_of_the_javascript_sdk_come_out() {
        const WAITS: [[u64; 10]; 6] = [
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [190, 272, 263, 263, 261, 253, 233, 204, 173, 143],
            [212, 214, 205, 201, 201, 201, 198, 191, 180, 164],
            [0, 101, 202, 200, 200, 200, 196, 188, 175, 158],
            [0, 0, 117, 159, 159, 158, 158, 158, 154, 150],
            [216, 195, 185, 180, 178, 179, 178, 176, 171, 162],
        ];
        const RETRIES: [u64; 6] = [478, 386, 791, 818, 327, 973];
        let mut limiter = new();
        let mut now = ms(484);
        // The client was created at this instant, with an empty bucket.
        limiter.bucket.take(now, 1.0);
        for (row, retry) in WAITS.iter().zip(RETRIES) {
            for (op, recorded) in row.iter().enumerate() {
                let sent = send(&mut limiter, now, &view(0, 0));
                let waited = seconds(sent.since(now)) * 1e3;
                assert!((waited - *recorded as f64).abs() <= 1.0, "{waited} instead of {recorded} ms");
                now = sent;
                if op == 9 {
                    limiter.on_ended(now, &ended(0, 1), &REJECTED);
                    now = now + std::time::Duration::from_millis(retry);
                    let again = LimiterView { candidate: launch(0, Some(Status::Rejected)), ..view(0, 0) };
                    assert_eq!(send(&mut limiter, now, &again), now);
                }
                limiter.on_ended(now, &ended(0, 1), &OK);
                now = now + std::time::Duration::from_millis(50);
            }
        }
    }

    #[test]
    fn older_costs_are_five_and_ten() {
        let mut limiter =
            AwsAdaptive::new(AwsAdaptiveConfig { costs: Costs::Older, ..AwsAdaptiveConfig::default() });
        limiter.on_ended(ms(0), &ended(0, 1), &REJECTED);
        let after = |last| LimiterView { candidate: launch(1, last), ..view(0, 1) };
        // The bucket holds one token and gains half a token per second.
        assert_eq!(send(&mut limiter, ms(0), &after(Some(Status::Rejected))), ms(2000));
        assert_eq!(
            send(&mut limiter, ms(2000), &after(None)),
            ms(22_000),
            "nine are owed, and one is needed"
        );
        assert_eq!(
            Costs::Older.of(&launch(1, Some(Status::Failed(crate::Failure::Server)))).to_bits(),
            5.0_f64.to_bits()
        );
    }
}
