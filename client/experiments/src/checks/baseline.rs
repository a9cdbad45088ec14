//! Which baselines a run can be compared with.

use results::{Baseline, Conditions};

use crate::error::Error;

/// Refuses to compare with another server, seed or workload, and names what differs. `name` is what the baseline is called.
pub fn refuse_other(baseline: &Baseline, name: &str, experiment: &Conditions) -> Result<(), Error> {
    let differences = experiment.differences(&baseline.experiment);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`{name}` (--baseline) is of another experiment: {}; run the same, or save a new baseline",
        differences.join("; ")
    )))
}

/// Refuses when no strategy is in both.
pub fn refuse_foreign(baseline: &Baseline, name: &str, strategies: &[&str]) -> Result<(), Error> {
    if strategies.iter().any(|strategy| baseline.strategies.contains_key(*strategy)) {
        return Ok(());
    }
    let known: Vec<&str> = baseline.strategies.keys().map(String::as_str).collect();
    Err(Error::usage(format!(
        "`{name}` (--baseline) is of {}, and this is {}: there is nothing to compare; save a new baseline",
        known.join(", "),
        strategies.join(", ")
    )))
}
