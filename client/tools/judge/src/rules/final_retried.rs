//! Rule `final-retried`: a retry of 400 or 404, which cannot succeed without another request.

use crate::observation::{Attempt, Retry};
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::delay;

pub(crate) const RULE: Rule = Rule {
    name: "final-retried",
    severity: Severity::Fail,
    summary: "a retry of 400 or 404",
    source: "RFC 9110, sections 15.5.1 and 15.5.5",
    check,
};

const FINAL: [u16; 2] = [400, 404];

fn check(case: &Case<'_>) -> Outcome {
    let final_code = |attempt: &Attempt| attempt.reply.code().filter(|code| FINAL.contains(code));
    let retried = case.found(|run| {
        run.retries().filter(Retry::is_repetition).filter_map(|retry| {
            let code = final_code(retry.before)?;
            Some((retry.number(), format!("{code} was retried after {}", delay(retry.delay()))))
        })
    });
    match retried {
        Some(retried) => retried,
        None if case.observation.attempts().any(|attempt| final_code(attempt).is_some()) => Outcome::Passed,
        None => Outcome::NoEvidence("the server sent neither 400 nor 404".to_owned()),
    }
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
        assert!(matches!(judged("503", &[0.5]), Outcome::NoEvidence(_)));
    }
}
