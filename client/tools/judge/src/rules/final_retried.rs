//! Rule `final-retried`: a retry of 400 or 404, which cannot succeed without another request.

use crate::rule::{Case, Evidence, Outcome, Rule, Severity};
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
    let is_final = |code: Option<u16>| code.is_some_and(|code| FINAL.contains(&code));
    let (mut text, mut evidence) = (None, Vec::new());
    for (run, observed) in case.runs() {
        let retried: Vec<_> = observed
            .retries()
            .filter(|retry| is_final(retry.before.reply.code()) && retry.is_repetition())
            .collect();
        let Some(first) = retried.first() else { continue };
        let code = first.before.reply.code().unwrap_or_default();
        text.get_or_insert_with(|| format!("{code} was retried after {}", delay(first.delay())));
        evidence.push(Evidence { run, attempts: retried.iter().map(|retry| retry.index + 1).collect() });
    }
    match text {
        Some(text) => Outcome::Found { text, evidence },
        None if case.observation.attempts().any(|attempt| is_final(attempt.reply.code())) => Outcome::Passed,
        None => Outcome::NoEvidence("the server sent neither 400 nor 404".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
