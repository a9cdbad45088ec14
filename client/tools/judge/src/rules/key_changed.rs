//! Rule `key-changed`: a retry has another idempotency key than the attempt before it, so the server cannot recognise the repetition.

use crate::observation::Retry;
use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "key-changed",
    severity: Severity::Fail,
    summary: "a retry of a write with another idempotency key than the attempt before",
    source: "gocardless/gocardless-pro-python#12",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if let Some(unknown) = case.without_keys() {
        return unknown;
    }
    let is_keyed = |retry: &Retry<'_>| {
        retry.is_repetition() && case.is_write(retry.attempt) && !retry.before.keys.is_empty()
    };
    let changed = case.found(|run| {
        run.retries().filter(is_keyed).filter_map(|retry| {
            let key = retry.before.keys.iter().find(|key| !retry.attempt.keys.contains(key))?;
            Some((retry.number(), format!("the retry has another `{}` than the attempt before", key.name)))
        })
    });
    match changed {
        Some(changed) => changed,
        None if case.observation.retries().any(|retry| is_keyed(&retry)) => Outcome::Passed,
        None => Outcome::NoEvidence("no retry of a request with an idempotency key observed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn a_retry_must_keep_its_key() {
        let judged = |keys: &'static [&'static str]| {
            outcome(&RULE, "503|200", &[0.5], &Setup { method: "POST", keys, ..Setup::default() })
        };
        let Outcome::Found { text, .. } = judged(&["a", "b"]) else { panic!("the key changed") };
        assert_eq!(text, "the retry has another `idempotency-key` than the attempt before");
        assert_eq!(judged(&["a", "a"]), Outcome::Passed);
        assert!(matches!(judged(&[]), Outcome::NoEvidence(_)));
    }
}
