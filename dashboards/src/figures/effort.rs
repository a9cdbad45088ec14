//! Cost of a run's work: attempts per op, and the share of attempts that was wasted.

use loadgen_core::Snapshot;

use crate::text;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AttemptStats {
    pub(crate) attempts: u64,
    /// Number of ended attempts per ended op; NaN before the first op ended.
    pub(crate) per_op: f64,
    /// Share of ended attempts that succeeded, 0 to 1; NaN before the first attempt ended.
    pub(crate) efficiency: f64,
}

impl AttemptStats {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let attempts = snapshot.attempts;
        let ended = attempts.succeeded + attempts.rejected + attempts.failed + attempts.cancelled;
        Self {
            attempts: attempts.total,
            per_op: ratio(ended, snapshot.ops.succeeded + snapshot.ops.given_up),
            efficiency: ratio(attempts.succeeded, ended),
        }
    }

    pub(crate) fn wasted(&self) -> f64 {
        1.0 - self.efficiency
    }

    pub(crate) fn per_op_text(&self) -> String {
        if self.per_op.is_nan() { "–".to_owned() } else { format!("{:.2}", self.per_op) }
    }
}

pub(crate) fn failures(snapshot: &Snapshot) -> Option<String> {
    let causes: Vec<String> = snapshot
        .failures
        .results()
        .iter()
        .map(|failure| format!("{} ×{}", failure.words(), text::count(failure.attempts)))
        .collect();
    (!causes.is_empty()).then(|| causes.join(", "))
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}
