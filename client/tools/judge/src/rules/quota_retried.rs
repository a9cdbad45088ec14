//! Rule `quota-retried`: a rejection that cannot end by itself, such as a used-up quota, is retried.

use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "quota-retried",
    severity: Severity::Warn,
    summary: "a retry of 429 whose body says that no retry can succeed, such as insufficient_quota",
    source: "OpenAI, Error codes: do not retry insufficient_quota",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if !case.situation.is_made_for(RULE.name) {
        return Outcome::NoEvidence("no quota is used up".to_owned());
    }
    case.must_not_retry("although the quota is used up")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, no_retry, outcome};

    #[test]
    fn a_used_up_quota_is_not_retried() {
        let judged = |delays: &[f64], control: &'static [f64]| {
            let setup = Setup { control: Some(("429|200", control)), ..Setup::default() };
            outcome(&RULE, "429", delays, &setup)
        };
        let Outcome::Found { text, .. } = judged(&[0.5], &[0.5]) else { panic!("it was retried") };
        assert_eq!(text, "retried after 0.50 s, although the quota is used up");
        assert_eq!(judged(&[], &[0.5]), Outcome::Passed);
        assert_eq!(judged(&[], &[]), no_retry(), "it retries no 429");
    }
}
