//! Rule `request-after-success`: the call was sent again after its success. Polling and pagination do that, too.

use crate::rule::{Case, Evidence, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "request-after-success",
    severity: Severity::Warn,
    summary: "the same request again after its success",
    source: "basecamp/basecamp-sdk#568: tests that count requests only",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let mut evidence = Vec::new();
    for (run, observed) in case.runs() {
        let again: Vec<usize> = observed
            .retries()
            .filter(|retry| retry.before.reply.is_success())
            .map(|retry| retry.index + 1)
            .collect();
        if !again.is_empty() {
            evidence.push(Evidence { run, attempts: again });
        }
    }
    if let Some(first) = evidence.first() {
        let count = first.attempts.len();
        let requests =
            if count == 1 { "1 further request".to_owned() } else { format!("{count} further requests") };
        return Outcome::Found { text: format!("{requests} of the call after its success"), evidence };
    }
    if case.observation.attempts().any(|attempt| attempt.reply.is_success()) {
        Outcome::Passed
    } else {
        Outcome::NoEvidence("no success observed".to_owned())
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
