//! Rule `early-date`: a retry misses the date in `Retry-After` by less than a second, for example because the client rounds down.

use std::time::Duration;

use crate::advice::Advice;
use crate::observation::Attempt;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::rules::early_retry::judged;

pub(crate) const RULE: Rule = Rule {
    name: "early-date",
    severity: Severity::Warn,
    summary: "a retry that misses the date in Retry-After by less than 1 s",
    source: "RFC 9110, section 10.2.3",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let date = |attempt: &Attempt| match attempt.reply.advice()? {
        Advice::Date(wait) => Some(wait),
        _ => None,
    };
    judged(case, date, |_, early_by| early_by < Duration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, no_retry, outcome};

    #[test]
    fn only_dates_missed_by_less_than_a_second_are_found() {
        let judged = |script: &str, delay: f64| outcome(&RULE, script, &[delay], &Setup::default());
        let date = "429 retry-after:@date+3|200";
        let Outcome::Found { text, .. } = judged(date, 2.4) else { panic!("it is early") };
        assert_eq!(text, "retried after 2.40 s instead of 3 s (600 ms early)");
        assert_eq!(judged(date, 3.0), Outcome::Passed);
        assert_eq!(judged(date, 1.0), Outcome::Passed, "`early-retry` finds it");
        assert_eq!(judged("429 retry-after:3|200", 2.4), no_retry());
    }
}
