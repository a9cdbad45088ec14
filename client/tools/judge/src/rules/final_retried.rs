//! Rule `final-retried`: a retry of a status such as 400, which cannot succeed without another request or credential.

use crate::observation::Retry;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::delay;

pub(crate) const RULE: Rule = Rule {
    name: "final-retried",
    severity: Severity::Fail,
    summary: "a retry of 400, 404 or 422, or of 401 or 403 with the same credential",
    source: "RFC 9110, section 15.5",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if !case.situation.is_made_for(RULE.name) {
        return Outcome::NoEvidence("the server sent no final status".to_owned());
    }
    let retried = case.found(|run| {
        run.retries().filter(Retry::is_repetition).filter_map(|retry| {
            let code = retry.before.reply.code()?;
            Some((retry.number(), format!("{code} was retried after {}", delay(retry.delay()))))
        })
    });
    retried.unwrap_or(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Evidence;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn only_final_answers_must_not_be_retried() {
        let judged = |script: &str, delays: &[f64]| outcome(&RULE, script, delays, &Setup::default());
        let Outcome::Found { text, evidence } = judged("404", &[0.5, 1.0]) else { panic!("it was retried") };
        assert_eq!(text, "404 was retried after 0.50 s");
        assert_eq!(evidence, [Evidence { run: 1, attempts: vec![2, 3] }]);
        assert_eq!(judged("404", &[]), Outcome::Passed);
        let elsewhere = Setup { is_purpose: false, ..Setup::default() };
        assert!(matches!(outcome(&RULE, "404", &[0.5], &elsewhere), Outcome::NoEvidence(_)));
    }
}
