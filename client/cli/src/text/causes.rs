//! Causes of failed attempts, formatted as text with the number of attempts per cause.

use experiments::runs::one_run::Finished;
use loadgen_core::FailureResult;

use crate::text::figures::thousands;

/// Maximum number of causes of failure in one line.
const CAUSES: usize = 4;

/// Returns the causes of failure in `failures`, each with its number of attempts, such as `404 × 20`. The list `failures` must begin with
/// the most frequent cause.
pub(crate) fn causes(failures: &[FailureResult]) -> Vec<String> {
    let mut rows: Vec<String> = failures
        .iter()
        .take(CAUSES)
        .map(|failure| format!("{} × {}", failure.words(), thousands(failure.attempts)))
        .collect();
    if let Some(rest) = failures.get(CAUSES..).filter(|rest| !rest.is_empty()) {
        let attempts = rest.iter().map(|failure| failure.attempts).sum();
        rows.push(format!("others × {}", thousands(attempts)));
    }
    rows
}

pub(crate) fn unanswered(run: &Finished) -> String {
    format!(
        "no attempt received a response: all {} failed ({}); check `--target`",
        thousands(run.result.attempts.failed),
        causes(&run.result.failures).join(", ")
    )
}
