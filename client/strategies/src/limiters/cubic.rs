//! `cubic`: a congestion window that returns to its size before the cut as a function of time, not of round trips.
//!
//! Source: quinn-rs/quinn `quinn-proto/src/congestion/cubic.rs`; RFC 9438. Attempts take the place of datagrams. The
//! round-trip time is that of successes, smoothed as in RFC 9002. As in quinn, a cut reduces the window to beta times
//! the top of the new growth curve. If the window is below the previous top when it is cut (fast convergence), the new
//! top is only 0.85 of the window. So 0.595 of the window remains, and not 0.7 as in RFC 9438. Also as in quinn, the
//! curve continues while the client is application-limited. Persistent congestion is left out, for the reason stated in
//! `new-reno`.

use std::time::Duration;

use super::bucket::seconds;
use super::congestion_window::CongestionWindow;
use super::curve::Curve;
use crate::part_config::part;
use crate::{AttemptEnd, Gauges, Instant, Limiter, LimiterView, Outcome, Status};
use vocabulary::parameters;

parameters! {
    pub(crate) struct CubicConfig = "cubic" {
        initial: f64 = 10.0, "initial window, in attempts in flight", 1.0..=1e6;
        min: f64 = 2.0, "minimum window, in attempts in flight", 1.0..=1e6;
        beta: f64 = 0.7, "share of the window that remains after a cut", 0.01..=0.999;
        scale: f64 = 0.4, "factor for how steeply the window grows after a cut (C in RFC 9438)", 0.001..=1e3;
    }
    summary = "congestion window that grows with the cube of the time since its cut";
    rule = "an attempt may start while fewer than window are in flight. Attempts sent before the last cut \
        change nothing, nor do successes while the window is not full. After a rejection or failure, top = \
        window, or window * (1 + beta) / 2 if the window is below the previous top; window = ssthresh = \
        max(min, beta * top), k = cbrt(top * (1 - beta) / scale), and the time t since the cut starts at 0. \
        After a success below ssthresh, the window grows by 1. After any other success, w = scale * (t + rtt \
        - k)^3 + top and reno = beta * top + 3 * (1 - beta) / (1 + beta) * t / rtt. Then growth increases by \
        (w - window) / window, or by (reno - window) if reno > w. When growth reaches 1, the window grows by \
        1";
    source = "quinn-rs/quinn quinn-proto/src/congestion/cubic.rs; RFC 9438";
}

part!(CubicConfig: Limiter, |config, _| Cubic::new(config));

struct Cubic {
    config: CubicConfig,
    window: CongestionWindow,
    curve: Curve,
    /// Accumulated growth that is less than one attempt, so it is not yet added to the window.
    growth: f64,
    /// Smoothed round-trip time in seconds.
    rtt: Option<f64>,
}

impl Cubic {
    fn new(config: CubicConfig) -> Self {
        Self {
            window: CongestionWindow::new(config.initial),
            curve: Curve::new(config.beta, config.scale),
            growth: 0.0,
            rtt: None,
            config,
        }
    }

    /// Updates and returns the smoothed round-trip time in seconds (RFC 9002, section 5.3). The result is above zero,
    /// because the caller divides by it.
    fn smooth_rtt(&mut self, latency: Duration) -> f64 {
        let latest = seconds(latency).max(1e-9);
        let rtt = self.rtt.map_or(latest, |rtt| 0.875 * rtt + 0.125 * latest);
        *self.rtt.insert(rtt)
    }

    fn reno(&self, age: f64, rtt: f64) -> f64 {
        let beta = self.config.beta;
        self.curve.floor() + 3.0 * (1.0 - beta) / (1.0 + beta) * age / rtt
    }

    fn grow(&mut self, now: Instant, rtt: f64) {
        if self.window.is_slow_start() {
            self.window.size += 1.0;
            return;
        }
        let (age, window) = (self.curve.age(now), self.window.size);
        let (cubic, reno) = (self.curve.after(age + rtt), self.reno(age, rtt));
        self.growth +=
            if cubic < reno { (reno - window).max(0.0) } else { ((cubic - window) / window).max(0.0) };
        if self.growth >= 1.0 {
            self.growth = 0.0;
            self.window.size += 1.0;
        }
    }

    fn cut(&mut self, now: Instant, status: Status) {
        let window = self.window.size;
        let converges = window < self.curve.top;
        let top = if converges { window * (1.0 + self.config.beta) / 2.0 } else { window };
        self.curve.cut(now, top);
        self.window.cut(self.curve.floor().max(self.config.min), status);
        self.growth *= self.config.beta;
    }
}

impl Limiter for Cubic {
    fn is_full(&self, in_flight: u32) -> bool {
        self.window.is_full(in_flight)
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        self.window.on_sent(&view.candidate);
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        if outcome.status == Status::Succeeded {
            let rtt = self.smooth_rtt(now.since(ended.sent_at));
            if self.window.is_news(ended) && self.window.was_used(ended) {
                self.grow(now, rtt);
            }
        } else if outcome.status.is_congestion() && self.window.is_news(ended) {
            self.cut(now, outcome.status);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        self.window.report(gauges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{OK, REJECTED, ended, view};

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn cubic(window: f64) -> Cubic {
        let mut cubic = Cubic::new(CubicConfig { initial: window, ..CubicConfig::default() });
        cubic.on_sent(ms(0), &view(0, 0));
        cubic
    }

    /// Sends attempt `seq` 300 ms before `at` and ends it with success at `at`, while the window is used.
    fn succeed(cubic: &mut Cubic, seq: u64, at: u64) {
        cubic.on_sent(ms(at - 300), &view(0, seq));
        let end = AttemptEnd { sent_at: ms(at - 300), ready: 1, ..ended(seq, 1) };
        cubic.on_ended(ms(at), &end, &OK);
    }

    #[track_caller]
    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-9, "{value} instead of {wanted}");
    }

    #[test]
    fn slow_start_adds_one_per_success() {
        let mut cubic = cubic(10.0);
        for seq in 0..10 {
            succeed(&mut cubic, seq, 300);
        }
        near(cubic.window.size, 20.0);
    }

    /// aws/s2n-quic `quic/s2n-quic-core/src/recovery/cubic/tests.rs`, `multiplicative_decrease`, in datagrams of 1200
    /// bytes.
    #[test]
    fn a_cut_before_reaching_the_top_gives_up_part_of_the_window() {
        let mut cubic = cubic(100_000.0 / 1200.0);
        cubic.on_ended(ms(0), &ended(0, 1), &REJECTED);
        near(cubic.curve.top, 100_000.0 / 1200.0);
        near(cubic.window.size, 70_000.0 / 1200.0);
        cubic.window.size = 80_000.0 / 1200.0;
        cubic.on_ended(ms(0), &ended(0, 1), &REJECTED);
        near(cubic.window.size, 80_000.0 / 1200.0);
        cubic.on_ended(ms(0), &ended(1, 1), &REJECTED);
        near(cubic.curve.top, 68_000.0 / 1200.0);
        near(cubic.window.size, 0.7 * 68_000.0 / 1200.0);
    }

    /// aws/s2n-quic `quic/s2n-quic-core/src/recovery/cubic/tests.rs`, `w_est`.
    #[test]
    fn reno_is_estimated_as_in_the_rfc() {
        let mut cubic = cubic(100.0);
        cubic.on_ended(ms(0), &ended(0, 1), &REJECTED);
        near(cubic.reno(6.0, 0.3), 70.0 + 20.0 * 0.9 / 1.7);
    }

    /// K of the RFC: time until the window is back at its size before the cut.
    #[test]
    fn it_comes_back_in_k_seconds_whatever_the_round_trip() {
        // ∛(800 · 0.3 / 0.4) = 8.43 s; Reno would need 240 round trips of 0.3 s.
        let mut cubic = cubic(800.0);
        cubic.on_ended(ms(0), &ended(0, 1), &REJECTED);
        near(cubic.window.size, 560.0);
        let mut seq = 1;
        for at in (300..8400).step_by(300) {
            for _ in 0..800 {
                succeed(&mut cubic, seq, at);
                seq += 1;
            }
        }
        assert!((798.0..=800.0).contains(&cubic.window.size), "{}", cubic.window.size);
        assert_eq!(cubic.window.ssthresh, Some(560.0));
    }

    #[test]
    fn a_small_window_grows_as_reno_would() {
        let mut cubic = cubic(10.0);
        cubic.on_ended(ms(0), &ended(0, 1), &REJECTED);
        near(cubic.window.size, 7.0);
        // After 12 round trips of 0.3 s Reno has gained 6.35, which rounds up to 7 whole attempts. The cubic has
        // regained only the loss.
        for at in (300..=3600).step_by(300) {
            for _ in 0..20 {
                succeed(&mut cubic, at, at);
            }
        }
        near(cubic.window.size, 14.0);
        assert!(cubic.curve.after(3.9) < cubic.reno(3.6, 0.3));
    }
}
