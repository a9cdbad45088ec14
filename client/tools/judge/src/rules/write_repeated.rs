//! Rule `write-repeated`: a write that the server had done is sent and done again, because its answer was lost.

use crate::observation::{Attempt, Reply};
use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "write-repeated",
    severity: Severity::Fail,
    summary: "the same write executed twice without an idempotency key, after a lost answer",
    source: "basecamp/basecamp-sdk#411, apify/apify-client-python#990",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if let Some(unknown) = case.unknown_writes() {
        return unknown;
    }
    let is_lost = |attempt: &Attempt| attempt.reply == Reply::Broken { executed: true };
    if !case.observation.attempts().any(is_lost) {
        return Outcome::NoEvidence("no answer of a write was lost".to_owned());
    }
    let (mut method, mut most, mut is_other_body) = ("", 0, false);
    let evidence = case.evidence(|run| {
        let first = run.attempts.iter().find(|attempt| case.is_write(attempt) && is_lost(attempt));
        let Some(first) = first else { return Vec::new() };
        let executed = (1..).zip(&run.attempts).filter(|(_, attempt)| attempt.is_executed());
        let (repeated, others): (Vec<_>, Vec<_>) =
            executed.partition(|(_, attempt)| attempt.body_digest == first.body_digest);
        is_other_body |= !others.is_empty();
        if repeated.len() < 2 || first.is_protected() {
            return Vec::new();
        }
        (method, most) = (&first.method, most.max(repeated.len()));
        repeated.into_iter().map(|(number, _)| number).collect()
    });
    match (evidence.is_empty(), is_other_body) {
        (false, _) => {
            let times = if most == 2 { "twice".to_owned() } else { format!("{most} times") };
            Outcome::Found {
                text: format!("the same {method} was executed {times}, without an idempotency key"),
                evidence,
            }
        }
        (true, true) => {
            Outcome::NoEvidence("the retry has another body, so it may be another write".to_owned())
        }
        (true, false) => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Evidence;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn a_write_without_a_key_must_not_be_executed_twice() {
        let post = Setup { method: "POST", ..Setup::default() };
        let Outcome::Found { text, evidence } = outcome(&RULE, "close:after|200", &[0.5], &post) else {
            panic!("it was executed twice")
        };
        assert_eq!(text, "the same POST was executed twice, without an idempotency key");
        assert_eq!(evidence, [Evidence { run: 1, attempts: vec![1, 2] }]);
        assert_eq!(outcome(&RULE, "close:after|200", &[], &post), Outcome::Passed);
        let keyed = Setup { keys: &["a", "a"], ..post };
        assert_eq!(outcome(&RULE, "close:after|200", &[0.5], &keyed), Outcome::Passed);
    }

    #[test]
    fn a_read_may_be_executed_twice() {
        let Outcome::NoEvidence(why) = outcome(&RULE, "close:after|200", &[0.5], &Setup::default()) else {
            panic!("it is a read")
        };
        assert_eq!(why, "no write observed, only GET /v1/things");
    }
}
