//! Rule `early-retry`: a retry must not be earlier than `Retry-After` asks for (RFC 9110, section 10.2.3).

use std::time::Duration;

use crate::advice::Advice;
use crate::observation::End;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::{delay, excess, time};

pub(crate) const RULE: Rule = Rule {
    name: "early-retry",
    severity: Severity::Fail,
    summary: "a retry earlier than Retry-After asks for, by more than 20 ms + 1 %",
    source: "Shopify/shopify-app-js#3364: seconds used as milliseconds",
    check,
};

/// Dates have whole seconds, so a client that rounds down misses a date by up to a second. `early-date` judges such retries.
const DATE_GRAIN: Duration = Duration::from_secs(1);

/// Returns the earliest allowed delay after the advised `wait`. Timers may fire slightly early.
pub(crate) fn earliest(wait: Duration) -> Duration {
    wait.saturating_sub(Duration::from_millis(20) + wait / 100)
}

fn check(case: &Case<'_>) -> Outcome {
    judged(case, Advice::standard_wait, |advice, early_by| {
        !matches!(advice, Advice::Date(_)) || early_by >= DATE_GRAIN
    })
}

/// Judges the delays after answers whose advice has a wait by `wait_of`. `is_broken` decides whether a retry that is early by the given
/// time breaks the rule.
pub(crate) fn judged(
    case: &Case<'_>,
    wait_of: fn(Advice) -> Option<Duration>,
    is_broken: impl Fn(Advice, Duration) -> bool,
) -> Outcome {
    let (mut found, mut is_lucky, mut has_advice) = (Vec::new(), None, false);
    let evidence = case.evidence(|run| {
        let mut early = Vec::new();
        for retry in run.retries() {
            let Some(advice) = retry.before.reply.advice() else { continue };
            let Some(wait) = wait_of(advice) else { continue };
            has_advice = true;
            let early_by = wait.saturating_sub(retry.delay());
            if retry.delay() < earliest(wait) && is_broken(advice, early_by) {
                let (after, wait, early_by) = (delay(retry.delay()), time(wait), excess(early_by));
                let text = format!("retried after {after} instead of {wait} ({early_by} early)");
                found.push((retry.delay(), text));
                early.push(retry.number());
            } else {
                let longest = longest_without_advice(case, retry.index);
                is_lucky = longest.filter(|longest| *longest >= earliest(wait)).or(is_lucky);
            }
        }
        early
    });
    match (found.into_iter().min(), is_lucky) {
        (Some((_, text)), _) => Outcome::Found { text, evidence },
        (None, Some(longest)) => Outcome::NoEvidence(format!(
            "without advice the client waits up to {}, too, so a pass could be luck (use a longer --retry-after)",
            delay(longest)
        )),
        (None, None) if has_advice => Outcome::Passed,
        (None, None) => without_retry(case, wait_of),
    }
}

fn longest_without_advice(case: &Case<'_>, retry: usize) -> Option<Duration> {
    let without_advice = case.controls.iter().filter(|(_, control)| !control.is_advised());
    without_advice.flat_map(|(_, control)| control.delays_of(retry)).max()
}

/// A client that still waits when its run is ended has not retried early, if the run was ended before the advised time.
fn without_retry(case: &Case<'_>, wait_of: fn(Advice) -> Option<Duration>) -> Outcome {
    let is_advised =
        case.observation.attempts().any(|attempt| attempt.reply.advice().and_then(wait_of).is_some());
    let is_waiting = case.observation.runs.iter().all(|run| run.end == End::Idle) && !case.waits_for_advice;
    if is_advised && is_waiting { Outcome::Passed } else { case.without_retry() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Evidence;
    use crate::rules::testing::{Setup, no_retry, outcome};

    #[test]
    fn a_retry_may_be_early_by_20_ms_and_a_hundredth() {
        let judged = |delay: f64| outcome(&RULE, "429 retry-after:3|200", &[delay], &Setup::default());
        assert_eq!(judged(3.0), Outcome::Passed);
        assert_eq!(judged(2.951), Outcome::Passed);
        let Outcome::Found { text, evidence } = judged(0.005) else { panic!("it is early") };
        assert_eq!(text, "retried after 5 ms instead of 3 s (2995 ms early)");
        assert_eq!(evidence, [Evidence { run: 1, attempts: vec![2] }]);
        assert!(matches!(judged(2.94), Outcome::Found { .. }));
    }

    #[test]
    fn a_pass_that_could_be_luck_is_no_pass() {
        let setup = Setup { control: Some(("429|200", &[3.2])), ..Setup::default() };
        let Outcome::NoEvidence(why) = outcome(&RULE, "429 retry-after:3|200", &[3.1], &setup) else {
            panic!("the control waits as long")
        };
        assert!(why.starts_with("without advice the client waits up to 3.20 s, too"), "{why}");
        assert!(matches!(outcome(&RULE, "429 retry-after:3|200", &[0.1], &setup), Outcome::Found { .. }));
    }

    #[test]
    fn without_a_retry_only_a_client_that_still_waits_passes() {
        let ended = Setup::default();
        assert_eq!(outcome(&RULE, "429 retry-after:70", &[], &ended), no_retry());
        let waiting = Setup { end: End::Idle, waits_for_advice: false, ..Setup::default() };
        assert_eq!(outcome(&RULE, "429 retry-after:70", &[], &waiting), Outcome::Passed);
        let stuck = Setup { end: End::Idle, ..Setup::default() };
        assert!(matches!(outcome(&RULE, "429 retry-after:3", &[], &stuck), Outcome::NoEvidence(_)));
        assert_eq!(outcome(&RULE, "429|200", &[0.5], &ended), no_retry(), "no advice");
    }

    #[test]
    fn a_date_missed_by_less_than_a_second_is_not_an_early_retry() {
        let judged = |delay: f64| outcome(&RULE, "429 retry-after:@date+3|200", &[delay], &Setup::default());
        assert_eq!(judged(2.1), Outcome::Passed);
        assert!(matches!(judged(1.9), Outcome::Found { .. }));
    }
}
