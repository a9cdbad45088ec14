//! Rule `body-changed`: a retry has another body than the first attempt, for example an empty one, because a stream was read already.

use crate::observation::{Attempt, BodyChange, ObservedRun};
use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "body-changed",
    severity: Severity::Fail,
    summary: "a retry whose body is empty, a part of the first, or less than Content-Length promises; warn: another body",
    source: "sindresorhus/got 11.5: a stream is empty at its retry",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if let Some(short) = case.found(|run| {
        attempts(run)
            .filter_map(|(number, first, attempt)| too_short(number, first, attempt))
            .collect::<Vec<_>>()
    }) {
        return short;
    }
    if let Some(other) = case.found(|run| {
        attempts(run).filter_map(|(number, first, attempt)| other(number, first, attempt)).collect::<Vec<_>>()
    }) {
        return other.into_warning();
    }
    let has_body = |attempt: &Attempt| attempt.body.bytes > 0;
    if case.observation.retries().any(|retry| has_body(retry.before)) {
        return Outcome::Passed;
    }
    Outcome::NoEvidence("no retry of a request with a body observed".to_owned())
}

/// Returns the attempts until the first success, each with its number and the first attempt.
fn attempts(run: &ObservedRun) -> impl Iterator<Item = (usize, &Attempt, &Attempt)> {
    let success = run.attempts.iter().position(|attempt| attempt.reply.is_success());
    let until = success.map_or(run.attempts.len(), |success| success + 1);
    let first = run.attempts.first();
    (1..).zip(&run.attempts[..until]).filter_map(move |(number, attempt)| Some((number, first?, attempt)))
}

fn too_short(number: usize, first: &Attempt, attempt: &Attempt) -> Option<(usize, String)> {
    let (body, all) = (attempt.body, first.body.bytes);
    let text = match (body.promised, body.change) {
        (Some(promised), _) => {
            format!("attempt {number} promises {promised} bytes in Content-Length, but sends {}", body.bytes)
        }
        (None, BodyChange::Part) if body.bytes == 0 => {
            format!("the body of attempt {number} is empty, that of attempt 1 has {all} bytes")
        }
        (None, BodyChange::Part) => {
            format!("attempt {number} sends only {} of the {all} bytes of attempt 1", body.bytes)
        }
        _ => return None,
    };
    Some((number, text))
}

fn other(number: usize, first: &Attempt, attempt: &Attempt) -> Option<(usize, String)> {
    let has_same_key = !attempt.keys.is_empty() && attempt.keys == first.keys;
    let is_other = attempt.body.change == BodyChange::Other && !has_same_key && !attempt.is_after_other;
    is_other.then(|| {
        let (bytes, all) = (attempt.body.bytes, first.body.bytes);
        let lengths =
            if bytes == all { "of the same length".to_owned() } else { format!("{bytes} bytes, not {all}") };
        (number, format!("attempt {number} has another body than attempt 1 ({lengths})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::SentBody;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn a_retry_has_the_whole_body() {
        let judged = |later: SentBody, keys: &'static [&'static str]| {
            let first = SentBody { bytes: 10, ..SentBody::default() };
            let bodies = [first, later];
            outcome(
                &RULE,
                "503|200",
                &[0.5],
                &Setup { method: "PUT", keys, bodies: &bodies, ..Setup::default() },
            )
        };
        let body = |bytes, change| SentBody { bytes, change, ..SentBody::default() };
        let text = |outcome| match outcome {
            Outcome::Found { text, .. } => text,
            other => panic!("{other:?}"),
        };
        let empty = text(judged(body(0, BodyChange::Part), &[]));
        assert_eq!(empty, "the body of attempt 2 is empty, that of attempt 1 has 10 bytes");
        let cut = SentBody { bytes: 4, promised: Some(10), ..SentBody::default() };
        assert_eq!(text(judged(cut, &[])), "attempt 2 promises 10 bytes in Content-Length, but sends 4");
        let short = text(judged(body(4, BodyChange::Part), &["a", "a"]));
        assert_eq!(short, "attempt 2 sends only 4 of the 10 bytes of attempt 1");
        assert!(matches!(judged(body(12, BodyChange::Other), &[]), Outcome::Warned { .. }));
        assert_eq!(judged(body(12, BodyChange::Other), &["a", "a"]), Outcome::Passed);
        assert_eq!(judged(body(10, BodyChange::Same), &[]), Outcome::Passed);
    }
}
