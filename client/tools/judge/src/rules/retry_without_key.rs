//! Rule `retry-without-key`: a write is retried after 429 or 503 without an idempotency key. Some servers send 503 after the work was done.

use crate::rule::{Case, Evidence, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "retry-without-key",
    severity: Severity::Warn,
    summary: "a write retried after 429 or 503 without an idempotency key",
    source: "apify/apify-client-python#990",
    check,
};

const STATUSES: [u16; 2] = [429, 503];

fn check(case: &Case<'_>) -> Outcome {
    if !case.has_write() {
        return case.without_write();
    }
    if let Some(unknown) = case.without_keys() {
        return unknown;
    }
    let (mut text, mut evidence, mut is_seen) = (None, Vec::new(), false);
    for (run, observed) in case.runs() {
        let mut unprotected = Vec::new();
        for retry in observed.retries().filter(|retry| case.is_write(retry.attempt)) {
            let Some(code) = retry.before.reply.code().filter(|code| STATUSES.contains(code)) else {
                continue;
            };
            is_seen = true;
            if !retry.attempt.is_protected() {
                text.get_or_insert_with(|| {
                    format!("{} was retried after {code} without an idempotency key", retry.attempt.method)
                });
                unprotected.push(retry.index + 1);
            }
        }
        if !unprotected.is_empty() {
            evidence.push(Evidence { run, attempts: unprotected });
        }
    }
    match text {
        Some(text) => Outcome::Found { text, evidence },
        None if is_seen => Outcome::Passed,
        None => case.without_retry(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn only_writes_without_a_key_are_found() {
        let judged = |setup: &Setup<'_>| outcome(&RULE, "503|200", &[0.5], setup);
        let post = Setup { method: "POST", ..Setup::default() };
        let Outcome::Found { text, .. } = judged(&post) else { panic!("it was retried") };
        assert_eq!(text, "POST was retried after 503 without an idempotency key");
        assert_eq!(judged(&Setup { keys: &["a", "a"], ..post }), Outcome::Passed);
        assert!(matches!(judged(&Setup::default()), Outcome::NoEvidence(_)));
        let read = Setup { operation: Some(crate::observation::OperationType::Read), ..post };
        assert!(matches!(judged(&read), Outcome::NoEvidence(_)), "many APIs read by POST");
    }
}
