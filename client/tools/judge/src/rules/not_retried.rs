//! Rule `not-retried`: a read is not retried after 503, or after a timeout or a broken connection although 503 is.

use crate::observation::{End, ObservedRun, Reply};
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::time;

pub(crate) const RULE: Rule = Rule {
    name: "not-retried",
    severity: Severity::Warn,
    summary: "a read that is not retried after 503, or after a broken connection or a timeout although 503 is",
    source: "basecamp/basecamp-sdk#568: tests that passed without any retry",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if !case.situation.is_made_for(RULE.name) {
        return Outcome::NoEvidence("the situation is made for other rules".to_owned());
    }
    if let Some(hanging) = case.found(|run| hangs_later(run).map(|text| (run.attempts.len(), text))) {
        return hanging;
    }
    if case.observation.has_retry() {
        return Outcome::Passed;
    }
    if case.has_write() || !case.observation.runs.iter().all(ObservedRun::is_over) {
        return case.without_retry();
    }
    let Some(first) = case.observation.attempts().next() else { return case.without_retry() };
    if first.body.is_chunked {
        return Outcome::NoEvidence("the request body is a stream, which cannot be sent again".to_owned());
    }
    let retried = case.controls.iter().find(|(_, control)| control.has_retry());
    let text = match (first.reply, retried) {
        (Reply::Status { code, .. }, _) => format!("{code} was not retried"),
        (_, None) => return case.without_retry(),
        (Reply::Open, Some((title, _))) => format!("a timeout was not retried, but “{title}” is"),
        (Reply::Broken { .. }, Some((title, _))) => {
            format!("a broken connection was not retried, but “{title}” is")
        }
    };
    Outcome::Found { text, evidence: case.evidence(|_| [1]) }
}

/// Returns a text if the client ended its first attempt after a time, but not the last one, for example because its timer was used up.
pub(crate) fn hangs_later(run: &ObservedRun) -> Option<String> {
    let [first, .., last] = &run.attempts[..] else { return None };
    let limit = first.ended.filter(|_| first.reply == Reply::Open)?.saturating_sub(first.at);
    let waited = run.ended.saturating_sub(last.at);
    let is_longer = run.end == End::Idle && last.ended.is_none() && waited > limit * 5 / 4;
    let number = run.attempts.len();
    is_longer.then(|| {
        format!("attempt 1 ended after {}, but attempt {number} not after {}", time(limit), time(waited))
    })
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

    #[test]
    fn a_broken_connection_is_retried_if_503_is() {
        let judged = |script: &str, control: &[f64]| {
            let setup = Setup { control: Some(("503|200", control)), ..Setup::default() };
            outcome(&RULE, script, &[], &setup)
        };
        let Outcome::Found { text, .. } = judged("close|200", &[0.5]) else { panic!("there was no retry") };
        assert_eq!(text, "a broken connection was not retried, but “503|200” is");
        let Outcome::Found { text, .. } = judged("hang|200", &[0.5]) else { panic!("there was no retry") };
        assert_eq!(text, "a timeout was not retried, but “503|200” is");
        assert!(matches!(judged("close|200", &[]), Outcome::NoEvidence(_)));
    }
}
