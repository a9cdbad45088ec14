//! Rule `no-backoff`: several retries follow without a pause, in every run.

use std::time::Duration;

use crate::observation::ObservedRun;
use crate::rule::{Case, Evidence, Outcome, Rule, Severity};
use crate::words::delay;

pub(crate) const RULE: Rule = Rule {
    name: "no-backoff",
    severity: Severity::Fail,
    summary: "four retries within 50 ms, in every run",
    source: "cardano-community/koios-java-client#205: 60 ms instead of 60 s",
    check,
};

const RETRIES: usize = 4;
const SPAN: Duration = Duration::from_millis(50);

fn check(case: &Case<'_>) -> Outcome {
    let is_enough = |run: &ObservedRun| run.attempts.len() > RETRIES;
    if case.observation.runs.is_empty() || !case.runs().all(|(_, run)| is_enough(run)) {
        return Outcome::NoEvidence(format!("fewer than {RETRIES} retries observed"));
    }
    let found: Vec<(usize, usize, Duration)> = case
        .runs()
        .filter_map(|(run, observed)| fastest(observed).map(|(first, span)| (run, first, span)))
        .collect();
    if found.len() < case.observation.runs.len() {
        return Outcome::Passed;
    }
    let span = found.iter().map(|(_, _, span)| *span).max().unwrap_or_default();
    let evidence = found.iter().map(|(run, first, _)| {
        let attempts = (first + 1..=first + 1 + RETRIES).collect();
        Evidence { run: *run, attempts }
    });
    Outcome::Found { text: format!("{RETRIES} retries within {}", delay(span)), evidence: evidence.collect() }
}

/// Returns the first [`RETRIES`] retries whose delays together are at most [`SPAN`]: the index of the attempt before them, and the sum of their
/// delays.
fn fastest(run: &ObservedRun) -> Option<(usize, Duration)> {
    let delays: Vec<Duration> = run.retries().map(|retry| retry.delay()).collect();
    delays.windows(RETRIES).enumerate().find_map(|(first, window)| {
        let span = window.iter().sum();
        (span <= SPAN).then_some((first, span))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn four_retries_without_a_pause_are_found() {
        let judged = |delays: &[f64]| outcome(&RULE, "503", delays, &Setup::default());
        let Outcome::Found { text, evidence } = judged(&[0.5, 0.001, 0.001, 0.001, 0.001]) else {
            panic!("it does not back off")
        };
        assert_eq!(text, "4 retries within 4 ms");
        assert_eq!(evidence, [Evidence { run: 1, attempts: vec![2, 3, 4, 5, 6] }]);
        assert_eq!(judged(&[0.001, 0.001, 0.5, 0.001, 0.001]), Outcome::Passed);
        assert!(matches!(judged(&[0.0, 0.0, 0.0]), Outcome::NoEvidence(_)));
    }
}
