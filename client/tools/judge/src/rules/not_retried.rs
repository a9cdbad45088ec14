//! Rule `not-retried`: a read is not retried after 503, although the next request would succeed.

use crate::observation::{Attempt, ObservedRun};
use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "not-retried",
    severity: Severity::Warn,
    summary: "a read that is not retried after 503",
    source: "basecamp/basecamp-sdk#568: tests that passed without any retry",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if case.has_write() {
        return Outcome::NoEvidence("only reads must be retried".to_owned());
    }
    let is_refused =
        |attempt: &Attempt| attempt.reply.code() == Some(503) && attempt.reply.advice().is_none();
    if !case.observation.attempts().any(is_refused) {
        return Outcome::NoEvidence("the server sent no 503".to_owned());
    }
    if case.observation.has_retry() {
        return Outcome::Passed;
    }
    if !case.observation.runs.iter().all(ObservedRun::is_over) {
        return case.without_retry();
    }
    Outcome::Found { text: "503 was not retried".to_owned(), evidence: case.evidence(|_| [1]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::End;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn a_read_is_retried_after_503() {
        let judged = |delays: &[f64], setup: &Setup<'_>| outcome(&RULE, "503|200", delays, setup);
        let Outcome::Found { text, .. } = judged(&[], &Setup::default()) else {
            panic!("there was no retry")
        };
        assert_eq!(text, "503 was not retried");
        assert_eq!(judged(&[0.5], &Setup::default()), Outcome::Passed);
        let post = Setup { method: "POST", ..Setup::default() };
        assert!(matches!(judged(&[], &post), Outcome::NoEvidence(_)));
        let waiting = Setup { end: End::Idle, ..Setup::default() };
        assert!(matches!(judged(&[], &waiting), Outcome::NoEvidence(_)));
    }
}
