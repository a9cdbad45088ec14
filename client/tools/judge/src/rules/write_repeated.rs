//! Rule `write-repeated`: a write that the server had done is sent and done again, because its answer was lost.

use crate::observation::{Attempt, ObservedRun, Reply};
use crate::rule::{Case, Evidence, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "write-repeated",
    severity: Severity::Fail,
    summary: "the same write executed twice without an idempotency key, after a lost answer",
    source: "basecamp/basecamp-sdk#411, apify/apify-client-python#990",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if !case.has_write() {
        return case.without_write();
    }
    if let Some(unknown) = case.without_keys() {
        return unknown;
    }
    let is_lost = |attempt: &Attempt| attempt.reply == Reply::Broken { executed: true };
    if !case.observation.attempts().any(is_lost) {
        return Outcome::NoEvidence("no answer of a write was lost".to_owned());
    }
    let mut evidence = Vec::new();
    let (mut method, mut most, mut is_other_body) = (String::new(), 0, false);
    for (run, observed) in case.runs() {
        let Some(first) = observed.attempts.iter().find(|attempt| case.is_write(attempt) && is_lost(attempt))
        else {
            continue;
        };
        let repeated = executed(observed, |attempt| attempt.body == first.body);
        is_other_body |= !executed(observed, |attempt| attempt.body != first.body).is_empty();
        if repeated.len() > 1 && !first.is_protected() {
            (method, most) = (first.method.clone(), most.max(repeated.len()));
            evidence.push(Evidence { run, attempts: repeated });
        }
    }
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

/// Returns the numbers of the executed attempts that `is_meant`, counted from 1.
fn executed(run: &ObservedRun, is_meant: impl Fn(&Attempt) -> bool) -> Vec<usize> {
    let numbered = run.attempts.iter().enumerate();
    numbered
        .filter(|(_, attempt)| attempt.is_executed() && is_meant(attempt))
        .map(|(index, _)| index + 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
