//! Rule `key-changed`: a retry has another idempotency key than the attempt before it, so the server cannot recognise the repetition.

use crate::observation::Retry;
use crate::rule::{Case, Evidence, Outcome, Rule, Severity};

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
    let (mut name, mut evidence, mut is_seen) = (None, Vec::new(), false);
    for (run, observed) in case.runs() {
        let changed: Vec<usize> = observed
            .retries()
            // After a success, another key is right, because the next request is another operation.
            .filter(|retry| !retry.before.reply.is_success() && retry.is_repetition())
            .filter(|retry| case.is_write(retry.attempt) && !retry.before.keys.is_empty())
            .inspect(|_| is_seen = true)
            .filter_map(|retry| {
                name.get_or_insert(changed_name(&retry)?);
                Some(retry.index + 1)
            })
            .collect();
        if !changed.is_empty() {
            evidence.push(Evidence { run, attempts: changed });
        }
    }
    match name {
        Some(name) => Outcome::Found {
            text: format!("the retry has another `{name}` than the attempt before"),
            evidence,
        },
        None if is_seen => Outcome::Passed,
        None => Outcome::NoEvidence("no retry of a request with an idempotency key observed".to_owned()),
    }
}

fn changed_name(retry: &Retry<'_>) -> Option<String> {
    let is_kept = |name: &str, value: &str| {
        retry.attempt.keys.iter().any(|other| other.name == name && other.value == value)
    };
    let changed = retry.before.keys.iter().find(|key| !is_kept(&key.name, &key.value))?;
    Some(changed.name.clone())
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
