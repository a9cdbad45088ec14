//! Results for tests.

use crate::document::run::RunResult;

/// Returns a run of ten ops, of which `succeeded` succeeded.
pub(crate) fn run(strategy: &str, seed: u64, succeeded: u64, attempts: u64, makespan_s: f64) -> RunResult {
    let complete = succeeded == 10;
    let text = format!(
        r#"{{"schema_version": 1, "mode": "simulated", "strategy": "{strategy}", "seed": {seed},
             "ops": {{"total": 10, "succeeded": {succeeded}, "given_up": {}}}, "attempts": {{"total": {attempts}}},
             "makespan_s": {makespan_s}, "makespan_complete": {complete}}}"#,
        10 - succeeded
    );
    serde_json::from_str(&text).expect("it is a run")
}
