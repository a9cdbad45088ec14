//! Rule `no-backoff`: several retries follow without a pause, in every run.

use std::time::Duration;

use crate::observation::ObservedRun;
use crate::rule::{Case, Outcome, Rule, Severity};
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
    let runs = &case.observation.runs;
    if runs.is_empty() || runs.iter().any(|run| run.attempts.len() <= RETRIES) {
        return Outcome::NoEvidence(format!("fewer than {RETRIES} retries observed"));
    }
    let spans: Option<Vec<Duration>> = runs.iter().map(|run| Some(fastest(run)?.1)).collect();
    let Some(span) = spans.and_then(|spans| spans.into_iter().max()) else { return Outcome::Passed };
    let evidence =
        case.evidence(|run| fastest(run).into_iter().flat_map(|(first, _)| first + 1..=first + 1 + RETRIES));
    Outcome::Found { text: format!("{RETRIES} retries within {}", delay(span)), evidence }
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
