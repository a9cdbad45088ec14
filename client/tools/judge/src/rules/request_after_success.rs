//! Rule `request-after-success`: the call was sent again after its success. Polling and pagination do that, too.

use results::numbers::counted;

use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "request-after-success",
    severity: Severity::Warn,
    summary: "the same request again after its success",
    source: "basecamp/basecamp-sdk#568: tests that count requests only",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let evidence = case.evidence(|run| {
        run.pairs().filter(|retry| retry.before.reply.is_success()).map(|retry| retry.number())
    });
    match evidence.first() {
        Some(first) => {
            let requests = counted(first.attempts.len() as u64, "further request");
            Outcome::Found { text: format!("{requests} of the call after its success"), evidence }
        }
        None if case.observation.attempts().any(|attempt| attempt.reply.is_success()) => Outcome::Passed,
        None => Outcome::NoEvidence("no success observed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn a_call_ends_with_its_success() {
        let judged = |delays: &[f64]| outcome(&RULE, "503|200", delays, &Setup::default());
        assert_eq!(judged(&[0.5]), Outcome::Passed);
        let Outcome::Found { text, .. } = judged(&[0.5, 0.1]) else { panic!("it was sent again") };
        assert_eq!(text, "1 further request of the call after its success");
        assert!(matches!(judged(&[]), Outcome::NoEvidence(_)));
    }
}
