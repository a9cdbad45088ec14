//! Rule `retry-without-key`: a write is retried after a rejection without an idempotency key. Some servers send 503 after the work was done.

use crate::observation::Retry;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::rules::final_retried;

pub(crate) const RULE: Rule = Rule {
    name: "retry-without-key",
    severity: Severity::Warn,
    summary: "a write retried after a rejection without an idempotency key",
    source: "apify/apify-client-python#990",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if let Some(unknown) = case.unknown_writes() {
        return unknown;
    }
    let refused = |retry: &Retry<'_>| {
        let code = retry.before.reply.code().filter(|code| *code >= 400)?;
        (case.is_write(retry.attempt) && !case.situation.is_made_for(final_retried::RULE.name))
            .then_some(code)
    };
    let unprotected = case.found(|run| {
        run.retries().filter(|retry| !retry.attempt.is_protected()).filter_map(|retry| {
            let (method, code) = (&retry.attempt.method, refused(&retry)?);
            Some((retry.number(), format!("{method} was retried after {code} without an idempotency key")))
        })
    });
    match unprotected {
        Some(unprotected) => unprotected,
        None if case.observation.retries().any(|retry| refused(&retry).is_some()) => Outcome::Passed,
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
