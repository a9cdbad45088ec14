//! Rule `no-backoff`: several retries follow without a pause, in every run.

use std::time::Duration;

use crate::observation::ObservedRun;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::delay;

pub(crate) const RULE: Rule = Rule {
    name: "no-backoff",
    severity: Severity::Fail,
    summary: "four retries with at most 50 ms of delays together, in every run; warn: two in a row within 20 ms each in every run of a control",
    source: "cardano-community/koios-java-client#205: 60 ms instead of 60 s",
    check,
};

const RETRIES: usize = 4;
const SPAN: Duration = Duration::from_millis(50);

/// Longest delay of each of two retries in a row, of which a control warns.
const SHORT: Duration = Duration::from_millis(20);
const MIN_RUNS: usize = 5;

fn check(case: &Case<'_>) -> Outcome {
    match four(case) {
        Outcome::Passed | Outcome::NoEvidence(_) if has_pairs(case) => Outcome::Warned {
            text: format!("two retries in a row within {} each, in every run", delay(SHORT)),
            evidence: case
                .evidence(|run| first_pair(run).into_iter().flat_map(|first| first + 1..=first + 3)),
        },
        other => other,
    }
}

/// Whether every run of a control has two short delays in a row.
fn has_pairs(case: &Case<'_>) -> bool {
    let runs = &case.observation.runs;
    runs.len() >= MIN_RUNS
        && !case.observation.is_advised()
        && runs[..MIN_RUNS].iter().all(|run| first_pair(run).is_some())
}

/// Returns the index of the attempt before the first two retries with short delays.
fn first_pair(run: &ObservedRun) -> Option<usize> {
    let delays: Vec<Duration> = run.retries().map(|retry| retry.delay()).collect();
    delays.windows(2).position(|pair| pair.iter().all(|delay| *delay <= SHORT))
}

fn four(case: &Case<'_>) -> Outcome {
    let runs = &case.observation.runs;
    if runs.is_empty() || runs.iter().any(|run| run.attempts.len() <= RETRIES) {
        if !case.observation.has_retry() {
            return case.without_retry();
        }
        return Outcome::NoEvidence(format!("fewer than {RETRIES} retries observed"));
    }
    let spans: Option<Vec<Duration>> = runs.iter().map(|run| Some(fastest(run)?.1)).collect();
    let Some(span) = spans.and_then(|spans| spans.into_iter().max()) else { return Outcome::Passed };
    let evidence =
        case.evidence(|run| fastest(run).into_iter().flat_map(|(first, _)| first + 1..=first + 1 + RETRIES));
    Outcome::Found { text: format!("{RETRIES} retries with delays of {} together", delay(span)), evidence }
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
    use crate::rule::Evidence;
    use crate::rules::testing::{Setup, outcome, outcome_of_runs};

    #[test]
    fn four_retries_without_a_pause_are_found() {
        let judged = |delays: &[f64]| outcome(&RULE, "503", delays, &Setup::default());
        let Outcome::Found { text, evidence } = judged(&[0.5, 0.001, 0.001, 0.001, 0.001]) else {
            panic!("it does not back off")
        };
        assert_eq!(text, "4 retries with delays of 4 ms together");
        assert_eq!(evidence, [Evidence { run: 1, attempts: vec![2, 3, 4, 5, 6] }]);
        assert_eq!(judged(&[0.001, 0.001, 0.5, 0.001, 0.001]), Outcome::Passed);
        assert!(matches!(judged(&[0.0, 0.0, 0.0]), Outcome::NoEvidence(_)));
    }

    #[test]
    fn two_short_delays_in_every_run_of_a_control_are_a_warning() {
        let judged = |delays: &[&[f64]]| outcome_of_runs(&RULE, "503|503|200", delays, &Setup::default());
        let Outcome::Warned { text, evidence } = judged(&[[0.001, 0.02].as_slice(); 5]) else {
            panic!("no pause")
        };
        assert_eq!(text, "two retries in a row within 20 ms each, in every run");
        assert_eq!(evidence[4], Evidence { run: 5, attempts: vec![1, 2, 3] });
        assert!(matches!(judged(&[[0.001, 0.02].as_slice(); 4]), Outcome::NoEvidence(_)));
        assert!(matches!(judged(&[[0.001, 0.03].as_slice(); 5]), Outcome::NoEvidence(_)));
    }
}
