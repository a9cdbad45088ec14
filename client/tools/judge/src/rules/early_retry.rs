//! Rule `early-retry`: a retry must not be earlier than `Retry-After` asks for (RFC 9110, section 10.2.3).

use std::time::Duration;

use crate::advice::Advice;
use crate::observation::{Attempt, ObservedRun};
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

/// Beginning of the reason if a run was ended before the advised time.
pub(crate) const WAITED: &str = "waited";

fn check(case: &Case<'_>) -> Outcome {
    let is_date = |attempt: &Attempt| matches!(attempt.reply.advice(), Some(Advice::Date(_)));
    judged(case, standard_wait, |attempt, early_by| !is_date(attempt) || early_by >= DATE_GRAIN)
}

fn standard_wait(attempt: &Attempt) -> Option<Duration> {
    attempt.reply.advice()?.standard_wait()
}

/// Judges the delays after answers that advise the wait `wait_of`. `is_broken` decides whether a retry that is early by the given time
/// breaks the rule.
pub(crate) fn judged(
    case: &Case<'_>,
    wait_of: impl Fn(&Attempt) -> Option<Duration>,
    is_broken: impl Fn(&Attempt, Duration) -> bool,
) -> Outcome {
    let (mut found, mut luckiest, mut is_clear) = (Vec::new(), None, false);
    let evidence = case.evidence(|run| {
        let mut early = Vec::new();
        for retry in run.retries() {
            let Some(wait) = wait_of(retry.before) else { continue };
            let early_by = wait.saturating_sub(retry.delay());
            if retry.delay() < earliest(wait) && is_broken(retry.before, early_by) {
                let (after, wait, early_by) = (delay(retry.delay()), time(wait), excess(early_by));
                let text = format!("retried after {after} instead of {wait} ({early_by} early)");
                found.push((retry.delay(), text));
                early.push(retry.number());
            } else {
                match case.own_delays(retry.index).max().filter(|longest| *longest >= earliest(wait)) {
                    Some(longest) => luckiest = luckiest.max(Some(longest)),
                    None => is_clear = true,
                }
            }
        }
        early
    });
    match (found.into_iter().min(), luckiest) {
        (Some((_, text)), _) => Outcome::Found { text, evidence },
        (None, _) if is_clear => Outcome::Passed,
        (None, Some(longest)) => Outcome::NoEvidence(format!(
            "without advice the client waits up to {}, too, so a pass could be luck (use a longer --retry-after)",
            delay(longest)
        )),
        (None, None) => without_retry(case, wait_of),
    }
}

/// Whether a delay that obeys the advice of a standard is near the client's own delays, so that it may be luck.
pub(crate) fn may_be_luck(case: &Case<'_>) -> bool {
    case.observation.retries().any(|retry| {
        // A date that is missed by less than its grain may be near, too.
        let is_date = matches!(retry.before.reply.advice(), Some(Advice::Date(_)));
        let grain = if is_date { DATE_GRAIN } else { Duration::ZERO };
        let is_near = |wait: Duration| {
            retry.delay() + grain >= earliest(wait) && case.own_delays(retry.index).any(|own| own >= wait / 2)
        };
        standard_wait(retry.before).is_some_and(is_near)
    })
}

/// Whether all runs were ended while the client waited as advised.
pub(crate) fn is_waiting(case: &Case<'_>) -> bool {
    case.observation.runs.iter().all(ObservedRun::is_waiting)
}

fn without_retry(case: &Case<'_>, wait_of: impl Fn(&Attempt) -> Option<Duration>) -> Outcome {
    match case.observation.attempts().filter_map(wait_of).max() {
        Some(wait) if is_waiting(case) => {
            let (idle, wait) = (time(case.idle), time(wait));
            let idle = idle.strip_suffix(" s").filter(|_| wait.ends_with(" s")).unwrap_or(&idle);
            Outcome::NoEvidence(format!("{WAITED} {idle} of {wait}"))
        }
        _ => case.without_retry(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::End;
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
        let waited = Outcome::NoEvidence("waited 6 of 70 s".to_owned());
        assert_eq!(outcome(&RULE, "429 retry-after:70", &[], &waiting), waited);
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
