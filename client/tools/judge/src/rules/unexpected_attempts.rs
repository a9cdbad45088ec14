//! Rule `unexpected-attempts`: a call that never succeeds has another number of attempts than the user expects (`--expect-attempts`).

use crate::observation::ObservedRun;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::{attempts, time};

pub(crate) const RULE: Rule = Rule {
    name: "unexpected-attempts",
    severity: Severity::Fail,
    summary: "another number of attempts at 503 forever than --expect-attempts",
    source: "cohere-ai/cohere-python: the number of retries is not passed on",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let Some(expected) = case.expected_attempts.filter(|_| case.situation.is_made_for(RULE.name)) else {
        return case.without_retry();
    };
    let is_other = |run: &ObservedRun| run.received > expected || run.is_over() && run.received != expected;
    let words =
        |run: &ObservedRun| (run.attempts.len(), format!("{} instead of {expected}", attempts(run.received)));
    let other = case.found(|run| is_other(run).then(|| words(run)));
    other.unwrap_or_else(|| {
        let is_over = case.observation.runs.iter().all(ObservedRun::is_over);
        if is_over { Outcome::Passed } else { Outcome::NoEvidence(unproven(case, expected)) }
    })
}

fn unproven(case: &Case<'_>, expected: u64) -> String {
    let seen = case.observation.runs.iter().map(|run| run.received).max().unwrap_or(0);
    let (seen, idle) = (attempts(seen), time(case.idle));
    format!("{seen}, then none within {idle}, so {expected} are not proven (use a longer --idle-timeout)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::End;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn the_number_of_attempts_is_that_of_the_user() {
        let judged = |retries: usize, setup: Setup<'_>| {
            outcome(&RULE, "503", &vec![0.5; retries], &Setup { expected_attempts: Some(3), ..setup })
        };
        let Outcome::Found { text, .. } = judged(0, Setup::default()) else { panic!("it is another number") };
        assert_eq!(text, "1 attempt instead of 3");
        assert_eq!(judged(2, Setup::default()), Outcome::Passed);
        let waiting = Setup { end: End::Idle, ..Setup::default() };
        assert!(matches!(judged(1, waiting), Outcome::NoEvidence(_)));
        assert!(matches!(judged(3, waiting), Outcome::Found { .. }));
        assert!(matches!(outcome(&RULE, "503", &[], &Setup::default()), Outcome::NoEvidence(_)));
    }
}
