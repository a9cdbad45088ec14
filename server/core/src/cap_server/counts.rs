//! What a server that is nothing but a cap has counted: of the [ledger](crate::ledger), what such a server can come to.

use std::time::Duration;

use vocabulary::wire::{ServerCounts, ServerStats};

use crate::request::{Step, Verdict};

#[derive(Debug, Default)]
pub(super) struct Counts {
    received: u64,
    reads: u64,
    reads_rejected: u64,
    accepted: u64,
    rejected: u64,
    max_busy: u32,
    max_in_service: u32,
    served_nanos: u128,
    wasted_nanos: u128,
}

impl Counts {
    /// A request reached admission; busy and in service count it.
    #[inline]
    pub(super) fn on_admission(&mut self, step: Step, verdict: Verdict, busy: u32, in_service: u32) {
        let is_accepted = verdict == Verdict::Accepted;
        if step == Step::Read {
            self.reads += 1;
            self.reads_rejected += u64::from(!is_accepted);
        } else {
            self.received += 1;
            self.accepted += u64::from(is_accepted);
            self.rejected += u64::from(!is_accepted);
        }
        self.max_busy = self.max_busy.max(busy);
        self.max_in_service = self.max_in_service.max(in_service);
    }

    /// So much server time was spent on what is done.
    #[inline]
    pub(super) fn on_service(&mut self, nanos: u64) {
        self.served_nanos += u128::from(nanos);
    }

    /// So much server time came to nothing.
    #[inline]
    pub(super) fn on_waste(&mut self, nanos: u64) {
        self.wasted_nanos += u128::from(nanos);
    }

    /// What clients are told, with what is busy just now.
    pub(super) fn stats(&self, busy: u32) -> ServerStats {
        ServerStats {
            counts: ServerCounts {
                received: self.received,
                reads: self.reads,
                reads_rejected: self.reads_rejected,
                accepted: self.accepted,
                rejected: self.rejected,
                max_busy_seen: u64::from(self.max_busy),
                max_accepted_seen: u64::from(self.max_in_service),
                ..ServerCounts::default()
            },
            busy: u64::from(busy),
            served_ms: Some(millis(self.served_nanos)),
            wasted_ms: millis(self.wasted_nanos),
            ..ServerStats::default()
        }
    }
}

/// As a sum of durations is told, rounded as that is.
fn millis(nanos: u128) -> f64 {
    const SECOND: u128 = 1_000_000_000;
    let seconds = u64::try_from(nanos / SECOND).unwrap_or(u64::MAX);
    let below = u32::try_from(nanos % SECOND).unwrap_or_default();
    Duration::new(seconds, below).as_secs_f64() * 1e3
}
