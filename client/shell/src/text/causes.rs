//! Causes of failed attempts, formatted as text with the number of attempts per cause.

use experiments::runs::one_run::Finished;
use loadgen_core::{FailureResult, StatusCount};
use results::reason_for_failure;

use crate::text::thousands;

/// Maximum number of causes of failure in one line.
const CAUSES: usize = 4;

/// Returns the causes of failure in `failures`, each with its number of attempts, such as `404 × 20`. The list `failures` must begin with
/// the most frequent cause.
pub fn causes(failures: &[FailureResult]) -> Vec<String> {
    most_frequent(failures.iter().map(|failure| (failure.words(), failure.attempts)).collect())
}

/// Returns the most frequent statuses, each with its number of attempts.
pub fn statuses(counts: &[StatusCount]) -> Vec<String> {
    let mut counts: Vec<_> = counts.iter().map(|count| (count.status.to_string(), count.attempts)).collect();
    counts.sort_by_key(|(_, attempts)| std::cmp::Reverse(*attempts));
    most_frequent(counts)
}

fn most_frequent(mut counts: Vec<(String, u64)>) -> Vec<String> {
    let others = counts.split_off(counts.len().min(CAUSES));
    let others = others.into_iter().map(|(_, attempts)| attempts).reduce(|sum, attempts| sum + attempts);
    counts.extend(others.map(|attempts| ("others".to_owned(), attempts)));
    counts.into_iter().map(|(words, attempts)| format!("{words} × {}", thousands(attempts))).collect()
}

pub fn unanswered(run: &Finished) -> String {
    format!(
        "no attempt received a response: all {} failed ({}); {}",
        thousands(run.result.attempts.failed),
        causes(&run.result.failures).join(", "),
        reason_for_failure(&run.result.warnings).unwrap_or("check `--target`")
    )
}
