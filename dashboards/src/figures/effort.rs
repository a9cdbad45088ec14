//! What the work costs: attempts per op and the share of them that was for nothing.

use loadgen_core::Snapshot;

use crate::text;

/// Attempts against ops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// Attempts sent.
    pub(crate) attempts: u64,
    /// Attempts that ended per op that ended; not a number before the first ended.
    pub(crate) per_op: f64,
    /// Share of the answered attempts whose work was done; not a number before the first answer.
    pub(crate) efficiency: f64,
}

impl Effort {
    /// The effort so far.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let attempts = snapshot.attempts;
        let ended = attempts.succeeded + attempts.rejected + attempts.failed + attempts.cancelled;
        Self {
            attempts: attempts.total,
            per_op: ratio(ended, snapshot.ops.succeeded + snapshot.ops.given_up),
            efficiency: ratio(attempts.succeeded, ended),
        }
    }

    /// Share of the answered attempts that was for nothing.
    pub(crate) fn wasted(&self) -> f64 {
        1.0 - self.efficiency
    }

    /// [`Self::per_op`] as a text: `1.08`.
    pub(crate) fn per_op_text(&self) -> String {
        if self.per_op.is_nan() { "–".to_owned() } else { format!("{:.2}", self.per_op) }
    }
}

/// What failed attempts came to, the most frequent first: `404 ×20, connection refused ×3`.
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
