//! Rules that select the ended attempts that may change a congestion window.
//!
//! Source: RFC 9002, section 7.3.2: a congestion event starts a recovery period. The period ends when an attempt that
//! was sent during the period is acknowledged. Until then, further congestion events do not change the window. Section
//! 7.8: a window that is not fully used does not grow.

use crate::{AttemptEnd, Candidate};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    next_seq: u64,
    /// Sequence number of the first attempt after the last cut of the window. Attempts with lower numbers were sent
    /// before the cut.
    cut_seq: u64,
}

impl Round {
    pub(super) fn on_sent(&mut self, launch: &Candidate) {
        self.next_seq = launch.seq + 1;
    }

    pub(super) fn cut(&mut self) {
        self.cut_seq = self.next_seq;
    }

    pub(super) fn is_news(&self, ended: &AttemptEnd) -> bool {
        ended.seq >= self.cut_seq
    }

    /// Returns whether the congestion window was fully used. This is true if it was full when the attempt ended, or if
    /// further ops were ready to be sent.
    pub(super) fn uses(ended: &AttemptEnd, window: f64) -> bool {
        ended.ready > 0 || f64::from(ended.in_flight) >= libm::floor(window)
    }
}
