//! Rule `gave-up`: the client ends the call because of the advice, although it retries the same status without advice.

use crate::observation::{End, Observation, Reply};
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::time;

pub(crate) const RULE: Rule = Rule {
    name: "gave-up",
    severity: Severity::Warn,
    summary: "a call that ends, or waits without end, because of the advice",
    source: "clients that stop at a Retry-After that they cannot parse",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if !case.observation.is_advised() {
        return Outcome::NoEvidence("the answers advise nothing".to_owned());
    }
    let ended = case.found(|run| {
        let attempts = run.attempts.len();
        let Reply::Status { code, advice: Some(advice) } = run.attempts.last()?.reply else { return None };
        let ended = match run.end {
            End::Exited => "gave up".to_owned(),
            // A client that still waits obeys the advice, unless the advice names no time, or its time is over.
            End::Idle if advice.wait().is_none() => format!("no retry within {}", time(case.idle)),
            End::Idle if run.waited_for_advice => {
                format!("no retry within {} after the advised time", time(case.idle))
            }
            _ => return None,
        };
        let (title, _) = case.controls.iter().find(|(_, control)| is_retried(control, code, attempts))?;
        let wait = advice.wait().map(|wait| format!(" of {}", time(wait))).unwrap_or_default();
        let header = advice.header();
        Some((attempts, format!("{ended} after {code} with {header}{wait}, but retries after “{title}”")))
    });
    match ended {
        Some(ended) => ended,
        None if case.observation.has_retry() => Outcome::Passed,
        None => case.without_retry(),
    }
}

/// Whether a client that received this status in a control made more than `attempts` attempts.
fn is_retried(control: &Observation, code: u16, attempts: usize) -> bool {
    let is_same = control.attempts().next().is_some_and(|first| first.reply.code() == Some(code));
    is_same && !control.delays_of(attempts).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, no_retry, outcome};

    #[test]
    fn a_call_must_not_end_because_of_its_advice() {
        let setup = Setup { control: Some(("429|200", &[0.5])), ..Setup::default() };
        let Outcome::Found { text, .. } = outcome(&RULE, "429 retry-after:soon|200", &[], &setup) else {
            panic!("it gave up")
        };
        assert_eq!(text, "gave up after 429 with Retry-After, but retries after “429|200”");
        assert_eq!(outcome(&RULE, "429 retry-after:soon|200", &[0.5], &setup), Outcome::Passed);
        let other = outcome(&RULE, "403 x-ratelimit-reset:@epoch+3|200", &[], &setup);
        assert_eq!(other, no_retry(), "the control shows nothing about 403");
        let waiting = Setup { end: End::Idle, ..setup };
        let Outcome::Found { text, .. } = outcome(&RULE, "429 retry-after:soon|200", &[], &waiting) else {
            panic!("it still waits")
        };
        assert_eq!(text, "no retry within 6 s after 429 with Retry-After, but retries after “429|200”");
        let Outcome::Found { text, .. } = outcome(&RULE, "429 retry-after:70|200", &[], &waiting) else {
            panic!("the advised time is over")
        };
        assert!(text.starts_with("no retry within 6 s after the advised time after 429 with"), "{text}");
        let waiting = Setup { waits_for_advice: false, ..waiting };
        assert!(matches!(outcome(&RULE, "429 retry-after:70|200", &[], &waiting), Outcome::NoEvidence(_)));
        let never = Setup { control: Some(("429|200", &[])), ..Setup::default() };
        assert_eq!(outcome(&RULE, "429 retry-after:3|200", &[], &never), no_retry());
    }
}
