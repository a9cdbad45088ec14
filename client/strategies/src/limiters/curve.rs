//! Growth curve of CUBIC. It is steep after a cut, flat near the value before the cut (`top`), and steep again beyond
//! that value.
//!
//! Source: RFC 9438, section 4.2: w(t) = scale · (t − k)³ + top, k = ∛(top · (1 − beta) / scale).

use super::bucket::seconds;
use crate::Instant;

#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    beta: f64,
    scale: f64,
    pub(super) top: f64,
    /// Time in seconds from the cut to the flat point of the curve (`k` in the formula).
    flat_after: f64,
    since: Instant,
}

impl Curve {
    pub(super) fn new(beta: f64, scale: f64) -> Self {
        Self { beta, scale, top: 0.0, flat_after: 0.0, since: Instant::ORIGIN }
    }

    pub(super) fn cut(&mut self, now: Instant, top: f64) {
        self.top = top;
        self.since = now;
        self.flat_after = libm::cbrt(top * (1.0 - self.beta) / self.scale);
    }

    pub(super) fn floor(&self) -> f64 {
        self.top * self.beta
    }

    pub(super) fn age(&self, now: Instant) -> f64 {
        seconds(now.since(self.since))
    }

    /// Returns the value of the curve `age` seconds after the cut.
    pub(super) fn after(&self, age: f64) -> f64 {
        let beyond = age - self.flat_after;
        self.scale * beyond * beyond * beyond + self.top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(top: f64) -> Curve {
        let mut curve = Curve::new(0.7, 0.4);
        curve.cut(Instant::ORIGIN, top);
        curve
    }

    #[track_caller]
    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-9, "{value} instead of {wanted}");
    }

    /// aws/s2n-quic `quic/s2n-quic-core/src/recovery/cubic/tests.rs`, `w_cubic`, in packets.
    #[test]
    fn it_is_the_curve_of_the_rfc() {
        let curve = curve(2304.0);
        near(curve.flat_after, 12.0);
        near(curve.after(0.0), curve.floor());
        near(curve.after(10.0), 2300.8);
        near(curve.after(15.0), 2314.8);
    }

    /// botocore `tests/unit/retries/test_throttling.py`.
    #[test]
    fn it_is_flat_where_botocores_tests_have_it() {
        near(curve(10.0).flat_after, 1.957_433_820_584_431_7);
        near(curve(8.0).flat_after, 1.817_120_592_832_139_7);
        near(curve(8.0).floor(), 5.6);
    }

    /// smithy-lang/smithy-rs `client_rate_limiter.rs`, `test_calculated_rate_with_successes`, from the cut on.
    #[test]
    fn it_grows_as_the_tests_of_the_aws_sdks_have_it() {
        let grown = [
            7.0,
            9.648_936_009_66,
            10.000_030_849_917_364,
            10.453_284_520_772_092,
            13.408_697_022_224_185,
            21.266_268_354_273_64,
            36.425_998_516_920_465,
        ];
        for (age, value) in (0_u32..).zip(grown) {
            near(curve(10.0).after(f64::from(age)), value);
        }
    }
}
