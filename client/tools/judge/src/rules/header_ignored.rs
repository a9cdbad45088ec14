//! Rule `header-ignored`: the client does not wait as `retry-after-ms` or `x-ratelimit-reset` ask for. No standard defines these headers.

use std::time::Duration;

use crate::advice::Advice;
use crate::observation::Attempt;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::rules::early_retry::judged;
use crate::situation::Advised;

pub(crate) const RULE: Rule = Rule {
    name: "header-ignored",
    severity: Severity::Warn,
    summary: "a retry earlier than retry-after-ms, x-ratelimit-reset or a vendor's own advice ask for",
    source: "OpenAI and Azure send retry-after-ms, GitHub sends x-ratelimit-reset",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let advised = case.situation.advises.filter(|_| case.situation.is_made_for(RULE.name));
    if advised == Some(Advised::Never) {
        return case.must_not_retry("although the answer says that it must not be");
    }
    let wait = |attempt: &Attempt| match (advised, attempt.reply.code()) {
        (Some(Advised::Wait(wait)), Some(300..)) => Some(wait),
        _ => vendors_wait(attempt.reply.advice()?),
    };
    let header = case.observation.attempts().find_map(|attempt| {
        let advice = attempt.reply.advice()?;
        vendors_wait(advice).map(|_| advice.header())
    });
    match (judged(case, wait, |_, _| true), header) {
        (Outcome::Found { text, evidence }, Some(header)) => {
            Outcome::Found { text: format!("{header}: {text}"), evidence }
        }
        (other, _) => other,
    }
}

fn vendors_wait(advice: Advice) -> Option<Duration> {
    if let Advice::Millis(wait) | Advice::Reset(wait) = advice { Some(wait) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, no_retry, outcome};

    #[test]
    fn headers_of_vendors_are_named_if_they_are_ignored() {
        let judged = |script: &str, delay: f64| outcome(&RULE, script, &[delay], &Setup::default());
        let Outcome::Found { text, .. } = judged("429 retry-after-ms:3000|200", 0.5) else {
            panic!("it is early")
        };
        assert_eq!(text, "retry-after-ms: retried after 0.50 s instead of 3 s (2500 ms early)");
        assert_eq!(judged("429 retry-after-ms:3000|200", 3.0), Outcome::Passed);
        assert_eq!(judged("403 x-ratelimit-reset:@epoch+3|200", 3.0), Outcome::Passed);
        assert_eq!(judged("429 retry-after:3|200", 0.5), no_retry());
    }
}
