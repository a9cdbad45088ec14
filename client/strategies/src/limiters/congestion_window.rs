//! Congestion window with a slow start threshold, and the rules that select the ended attempts that may change it.
//!
//! Source: RFC 9002, section 7.3.2: a congestion event starts a recovery period. The period ends when an attempt that
//! was sent during the period is acknowledged. Until then, further congestion events do not change the window. Section
//! 7.8: a window that is not fully used does not grow.

use crate::{AttemptEnd, Candidate, Gauges, Status};

#[derive(Clone, Copy, Debug)]
pub(super) struct CongestionWindow {
    pub(super) size: f64,
    /// Slow start threshold; `None` before the first cut, because slow start is then unlimited.
    pub(super) ssthresh: Option<f64>,
    next_seq: u64,
    /// Sequence number of the first attempt after the last cut of the window. Attempts with lower numbers were sent
    /// before the cut.
    cut_seq: u64,
    reason: &'static str,
}

impl CongestionWindow {
    pub(super) fn new(size: f64) -> Self {
        Self { size, ssthresh: None, next_seq: 0, cut_seq: 0, reason: "started" }
    }

    pub(super) fn is_full(&self, in_flight: u32) -> bool {
        f64::from(in_flight) >= self.size
    }

    pub(super) fn is_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.size < ssthresh)
    }

    pub(super) fn on_sent(&mut self, launch: &Candidate) {
        self.next_seq = launch.seq + 1;
    }

    pub(super) fn cut(&mut self, size: f64, status: Status) {
        self.size = size;
        self.ssthresh = Some(size);
        self.cut_seq = self.next_seq;
        self.reason = match status {
            Status::Rejected => "cut by a rejection",
            _ => "cut by a failure",
        };
    }

    pub(super) fn is_news(&self, ended: &AttemptEnd) -> bool {
        ended.seq >= self.cut_seq
    }

    /// Returns whether the congestion window was fully used. This is true if it was full when the attempt ended, or if
    /// further ops were ready to be sent.
    pub(super) fn was_used(&self, ended: &AttemptEnd) -> bool {
        ended.ready > 0 || f64::from(ended.in_flight) >= libm::floor(self.size)
    }

    pub(super) fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(self.size);
        gauges.ssthresh = self.ssthresh;
        let phase = if self.is_slow_start() { "slow start" } else { "congestion avoidance" };
        gauges.explain(phase, self.reason);
    }
}
