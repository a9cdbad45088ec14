//! `new-reno`: TCP's congestion window as in QUIC. It is cut at most once per round trip, and grows only while it is
//! fully used.
//!
//! Source: quinn-rs/quinn `quinn-proto/src/congestion/new_reno.rs`; RFC 9002, section 7; RFC 5681. In this crate,
//! attempts take the place of datagrams. There are three differences from `aimd`. First, attempts sent before the last
//! cut change nothing, whatever their outcome. Second, a success lets the window grow only if the window is fully used.
//! Third, slow start ends when the window, not the number of attempts in flight, reaches the slow start threshold.
//!
//! QUIC's rule for persistent congestion is left out. By that rule, the window falls to its minimum if no packet is
//! acknowledged for several round trips. The rule does not fit, because a rejection is an answer. So a server that
//! rejects everything causes one cut per round trip.

use super::congestion_window::CongestionWindow;
use crate::part_config::part;
use crate::{AttemptEnd, Gauges, Instant, Limiter, LimiterView, Outcome, Status};
use vocabulary::parameters;

parameters! {
    pub(crate) struct NewRenoConfig = "new-reno" {
        initial: f64 = 10.0, "initial window, in attempts in flight", 1.0..=1e6;
        min: f64 = 2.0, "minimum window, in attempts in flight", 1.0..=1e6;
        beta: f64 = 0.5, "share of the window that remains after a cut", 0.01..=0.999;
    }
    summary = "QUIC's congestion window: slow start, then grows by 1 per round trip";
    rule = "an attempt may start while fewer than window are in flight. Only attempts sent after the last \
        cut change the window. While the window is full, each success below ssthresh adds 1 to the window; \
        above ssthresh, as many successes as the window add 1. A rejection or failure sets window = ssthresh \
        = max(min, beta * window)";
    source = "quinn-rs/quinn quinn-proto/src/congestion/new_reno.rs; RFC 9002; RFC 5681";
}

part!(NewRenoConfig: Limiter, |config, _| NewReno::new(config));

struct NewReno {
    config: NewRenoConfig,
    window: CongestionWindow,
    /// Number of successes since the window last grew, in congestion avoidance.
    successes: f64,
}

impl NewReno {
    fn new(config: NewRenoConfig) -> Self {
        Self { window: CongestionWindow::new(config.initial), successes: 0.0, config }
    }

    fn grow(&mut self) {
        let window = &mut self.window;
        if window.is_slow_start() {
            window.size += 1.0;
            // If slow start has raised the window above the slow start threshold, the surplus counts as successes of
            // congestion avoidance.
            self.successes = window.ssthresh.map_or(0.0, |ssthresh| (window.size - ssthresh).max(0.0));
            return;
        }
        self.successes += 1.0;
        if self.successes >= window.size {
            self.successes -= window.size;
            window.size += 1.0;
        }
    }
}

impl Limiter for NewReno {
    fn is_full(&self, in_flight: u32) -> bool {
        self.window.is_full(in_flight)
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        self.window.on_sent(&view.candidate);
    }

    fn on_ended(&mut self, _now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        if !self.window.is_news(ended) {
            return;
        }
        if outcome.status == Status::Succeeded {
            if self.window.was_used(ended) {
                self.grow();
            }
        } else if outcome.status.is_congestion() {
            let size = (self.window.size * self.config.beta).max(self.config.min);
            self.window.cut(size, outcome.status);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        self.window.report(gauges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CANCELLED, OK, REJECTED, TIMEOUT, ended, view};

    const NOW: Instant = Instant::ORIGIN;

    fn reno(sent: u64) -> NewReno {
        let mut reno = NewReno::new(NewRenoConfig::default());
        send(&mut reno, 0..sent);
        reno
    }

    fn send(reno: &mut NewReno, seqs: std::ops::Range<u64>) {
        for seq in seqs {
            reno.on_sent(NOW, &view(0, seq));
        }
    }

    #[track_caller]
    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-9, "{value} instead of {wanted}");
    }

    #[test]
    fn slow_start_doubles_the_window_in_a_round_trip() {
        let mut reno = reno(10);
        for seq in 0..10 {
            reno.on_ended(NOW, &ended(seq, 20), &OK);
        }
        near(reno.window.size, 20.0);
        assert_eq!(reno.window.ssthresh, None);
    }

    /// Outcomes of attempts sent before the cut are ignored.
    #[test]
    fn each_round_trip_has_at_most_one_cut() {
        let mut reno = reno(10);
        reno.on_ended(NOW, &ended(0, 10), &REJECTED);
        for seq in 1..10 {
            reno.on_ended(NOW, &ended(seq, 10), if seq % 2 == 0 { &OK } else { &TIMEOUT });
        }
        near(reno.window.size, 5.0);
        send(&mut reno, 10..11);
        reno.on_ended(NOW, &ended(10, 5), &TIMEOUT);
        near(reno.window.size, 2.5);
        send(&mut reno, 11..12);
        reno.on_ended(NOW, &ended(11, 2), &REJECTED);
        near(reno.window.size, 2.0);
    }

    #[test]
    fn congestion_avoidance_adds_one_per_window_of_successes() {
        let mut reno = reno(10);
        reno.on_ended(NOW, &ended(0, 10), &REJECTED);
        send(&mut reno, 10..40);
        for (successes, window) in [(4, 5.0), (1, 6.0), (5, 6.0), (1, 7.0), (7, 8.0)] {
            for _ in 0..successes {
                reno.on_ended(NOW, &ended(10, 20), &OK);
            }
            near(reno.window.size, window);
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut reno = reno(9);
        reno.on_ended(NOW, &ended(0, 9), &OK);
        near(reno.window.size, 10.0);
        // The window is used if it is full, or if ready ops wait to fill it.
        reno.on_ended(NOW, &ended(1, 10), &OK);
        near(reno.window.size, 11.0);
        reno.on_ended(NOW, &AttemptEnd { ready: 3, ..ended(2, 9) }, &OK);
        near(reno.window.size, 12.0);
        reno.on_ended(NOW, &ended(3, 12), &CANCELLED);
        near(reno.window.size, 12.0);
    }
}
