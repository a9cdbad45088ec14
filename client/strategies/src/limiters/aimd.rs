//! `aimd`: TCP's congestion window for requests, which grows with every success and is cut once per congestion event.
//!
//! Source: the blog post Improve on exponential backoff (2019; scenario `sync-musings`), after RFC 5681. The post
//! leaves three points open. This crate decides them as follows:
//!
//! - Sequence numbers are per attempt, not per op.
//! - When an attempt succeeds, the number in flight still includes it, because otherwise the window would never grow.
//! - The client, not the limiter, puts a rejected op at the back of the queue.

use crate::part_config::part;
use crate::{AttemptEnd, Gauges, Instant, Limiter, LimiterView, Outcome, Status};
use vocabulary::{choices, parameters};

choices! {
    enum Variant {
        /// A cut sets the window to the new slow start threshold.
        Reno = "reno",
        /// A cut sets the congestion window to its initial value.
        Tahoe = "tahoe",
    }
}

parameters! {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct AimdConfig = "aimd" {
        variant: choice Variant = Variant::Reno,
            "size to which a cut reduces the window: to ssthresh (`reno`), or to `initial` (`tahoe`)";
        beta: f64 = 0.9, "share of the window that remains after a cut", 0.01..=0.999;
        initial: f64 = 20.0, "initial window, in attempts in flight", 1.0..=1e6;
        ssthresh: f64 = 1024.0,
            "initial value of ssthresh: while fewer attempts are in flight, the window grows exponentially",
            1.0..=1e9;
    }
    summary = "window with additive increase and multiplicative decrease (TCP Reno)";
    rule = "an attempt may start while fewer than window are in flight. After a success, window = \
        max(window, min(in flight + 1, window + 1)) while in flight < ssthresh, and later the same with \
        window + 1/window in place of window + 1. After a rejection or failure, ssthresh = beta * window, \
        and window = ssthresh (variant=reno) or `initial` (variant=tahoe). Attempts that were already in \
        flight at the last cut cause no further cut";
    source = "Syncing musings, Improve on exponential backoff, 2019 (scenario sync-musings); RFC 5681";
}

part!(AimdConfig: Limiter, |config, _| Aimd::new(config));

/// State of the limiter for one client. It fits into a cache line (64 bytes).
struct Aimd {
    variant: Variant,
    beta: f64,
    initial: f64,
    window: f64,
    ssthresh: f64,
    next_seq: u64,
    /// Sequence number of the first attempt after the last cut of the window. If an attempt with a lower number is
    /// rejected or fails, the window is not cut again.
    cut_seq: u64,
    is_slow_start: bool,
    /// Status of the attempt that caused the last cut of the window.
    cut_by: Option<Status>,
}

impl Aimd {
    fn new(config: AimdConfig) -> Self {
        let AimdConfig { variant, beta, initial, ssthresh } = config;
        Self {
            variant,
            beta,
            initial,
            window: initial,
            ssthresh,
            next_seq: 0,
            cut_seq: 0,
            is_slow_start: true,
            cut_by: None,
        }
    }

    fn grow(&mut self, flying: f64) {
        self.is_slow_start = flying < self.ssthresh;
        let step = if self.is_slow_start { 1.0 } else { 1.0 / self.window };
        self.window = self.window.max((flying + 1.0).min(self.window + step));
    }

    fn cut(&mut self, status: Status) {
        self.ssthresh = (self.window * self.beta).max(1.0);
        self.window = match self.variant {
            Variant::Reno => self.ssthresh,
            Variant::Tahoe => self.initial,
        };
        self.cut_seq = self.next_seq;
        self.cut_by = Some(status);
    }
}

impl Limiter for Aimd {
    fn is_full(&self, in_flight: u32) -> bool {
        f64::from(in_flight) >= self.window
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        self.next_seq = view.candidate.seq + 1;
    }

    fn on_ended(&mut self, _now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        if outcome.status == Status::Succeeded {
            self.grow(f64::from(ended.in_flight));
        } else if outcome.status.is_congestion() && ended.seq >= self.cut_seq {
            self.cut(outcome.status);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(self.window);
        gauges.ssthresh = Some(self.ssthresh);
        let phase = if self.is_slow_start { "slow start" } else { "congestion avoidance" };
        let reason = match self.cut_by {
            None => "started",
            Some(Status::Rejected) => "cut by a rejection",
            Some(_) => "cut by a failure",
        };
        gauges.explain(phase, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, view};
    use crate::{Admit, Until};

    const NOW: Instant = Instant::ORIGIN;

    fn aimd(window: f64, ssthresh: f64, sent: u64) -> Aimd {
        let config = AimdConfig { initial: window, ssthresh, ..AimdConfig::default() };
        let mut aimd = Aimd::new(config);
        send(&mut aimd, 0..sent);
        aimd
    }

    fn send(aimd: &mut Aimd, seqs: std::ops::Range<u64>) {
        for seq in seqs {
            aimd.on_sent(NOW, &view(0, seq));
        }
    }

    #[track_caller]
    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-9, "{value} instead of {wanted}");
    }

    #[test]
    fn a_client_takes_no_more_than_a_cache_line() {
        assert!(size_of::<Aimd>() <= 64, "{}", size_of::<Aimd>());
    }

    #[test]
    fn a_full_window_waits_for_an_event() {
        let aimd = aimd(2.5, 1024.0, 0);
        assert_eq!(aimd.poll(NOW, &view(2, 0)), Admit::Go);
        assert_eq!(aimd.poll(NOW, &view(3, 0)), Admit::Wait(Until::Event));
    }

    #[test]
    fn below_ssthresh_each_success_adds_one() {
        let mut aimd = aimd(20.0, 1024.0, 20);
        aimd.on_ended(NOW, &ended(0, 20), &OK);
        near(aimd.window, 21.0);
        // 19 others are in flight, and two more are sent: 21.
        aimd.on_ended(NOW, &ended(1, 21), &OK);
        near(aimd.window, 22.0);
        assert!(aimd.is_slow_start);
    }

    #[test]
    fn slow_start_depends_on_attempts_in_flight_not_the_window() {
        let mut aimd = aimd(30.0, 20.0, 30);
        aimd.on_ended(NOW, &ended(0, 30), &OK);
        near(aimd.window, 30.0 + 1.0 / 30.0);
        assert!(!aimd.is_slow_start);
        // With so few in flight this is slow start, but a window that is not used does not grow.
        aimd.on_ended(NOW, &ended(1, 19), &OK);
        near(aimd.window, 30.0 + 1.0 / 30.0);
        assert!(aimd.is_slow_start);
        // At ssthresh itself slow start is over.
        aimd.on_ended(NOW, &ended(2, 20), &OK);
        assert!(!aimd.is_slow_start);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut aimd = aimd(20.0, 1024.0, 20);
        aimd.on_ended(NOW, &ended(0, 12), &OK);
        near(aimd.window, 20.0);
        aimd.on_ended(NOW, &ended(1, 19), &OK);
        near(aimd.window, 20.0);
        aimd.on_ended(NOW, &ended(2, 20), &OK);
        near(aimd.window, 21.0);
    }

    #[test]
    fn one_burst_of_rejections_cuts_once() {
        let mut aimd = aimd(50.0, 1024.0, 50);
        for seq in 10..50 {
            aimd.on_ended(NOW, &ended(seq, 50), &REJECTED);
        }
        near(aimd.window, 45.0);
        near(aimd.ssthresh, 45.0);
        // Attempts sent after the cut can cut again, even while older ones are in flight.
        send(&mut aimd, 50..52);
        aimd.on_ended(NOW, &ended(50, 11), &REJECTED);
        near(aimd.window, 40.5);
        aimd.on_ended(NOW, &ended(51, 10), &REJECTED);
        aimd.on_ended(NOW, &ended(3, 10), &REJECTED);
        near(aimd.window, 40.5);
        assert_eq!(aimd.cut_by, Some(Status::Rejected));
    }

    #[test]
    fn successes_of_attempts_older_than_the_cut_still_count() {
        let mut aimd = aimd(10.0, 1024.0, 10);
        aimd.on_ended(NOW, &ended(0, 10), &REJECTED);
        near(aimd.window, 9.0);
        aimd.on_ended(NOW, &ended(1, 9), &OK);
        near(aimd.window, 9.0 + 1.0 / 9.0);
    }

    #[test]
    fn tahoe_starts_again_and_reno_goes_on() {
        for (variant, window) in [(Variant::Reno, 32.0), (Variant::Tahoe, 20.0)] {
            let config = AimdConfig { variant, beta: 0.5, ..AimdConfig::default() };
            let mut aimd = Aimd::new(config);
            send(&mut aimd, 0..64);
            for flying in 20..64 {
                aimd.on_ended(NOW, &ended(0, flying), &OK);
            }
            near(aimd.window, 64.0);
            aimd.on_ended(NOW, &ended(1, 64), &REJECTED);
            near(aimd.window, window);
            near(aimd.ssthresh, 32.0);
        }
    }

    #[test]
    fn retriable_failures_are_congestion_and_others_are_not() {
        let mut aimd = aimd(10.0, 1024.0, 10);
        aimd.on_ended(NOW, &ended(0, 10), &FATAL);
        aimd.on_ended(NOW, &ended(1, 9), &CANCELLED);
        near(aimd.window, 10.0);
        aimd.on_ended(NOW, &ended(2, 8), &TIMEOUT);
        near(aimd.window, 9.0);
        assert_eq!(aimd.cut_by, Some(TIMEOUT.status));
    }

    #[test]
    fn the_window_never_falls_below_one() {
        let mut aimd = aimd(20.0, 1024.0, 0);
        for seq in 0..100 {
            send(&mut aimd, seq..seq + 1);
            aimd.on_ended(NOW, &ended(seq, 1), &REJECTED);
        }
        near(aimd.window, 1.0);
        near(aimd.ssthresh, 1.0);
        assert_eq!(aimd.poll(NOW, &view(0, 100)), Admit::Go);
    }
}
