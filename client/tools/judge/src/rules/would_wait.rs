//! Rule `would-wait`: the client waits for very long advice, such as a day, instead of ending or using its own delay.

use std::time::Duration;

use crate::advice::Advice;
use crate::observation::{End, ObservedRun};
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::{long_time, time};

pub(crate) const RULE: Rule = Rule {
    name: "would-wait",
    severity: Severity::Warn,
    summary: "a client that waits for a day, or for seconds since 1970 as for a time",
    source: "spotipy-dev/spotipy: sleeps for the whole Retry-After of a day",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    if !case.situation.is_made_for(RULE.name) {
        return Outcome::NoEvidence("no advice is as long".to_owned());
    }
    if case.observation.has_retry() {
        return Outcome::Passed;
    }
    if case.own_retries().next().is_none() {
        return case.without_retry();
    }
    let waits = case.found(|run| {
        let wait = advised(run).filter(|_| run.end == End::Idle)?;
        let text = format!(
            "still waiting after {}; if it obeys, it would wait for {}",
            time(case.idle),
            long_time(wait)
        );
        Some((run.attempts.len(), text))
    });
    waits.unwrap_or(Outcome::Passed)
}

fn advised(run: &ObservedRun) -> Option<Duration> {
    run.attempts.last()?.reply.advice().and_then(Advice::wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, no_retry, outcome};

    #[test]
    fn only_a_client_that_still_waits_is_found() {
        let setup = Setup { control: Some(("429|200", &[0.5])), waits_for_advice: false, ..Setup::default() };
        let judged = |delays: &[f64], end, setup: Setup<'_>| {
            outcome(&RULE, "429 retry-after:86400|200", delays, &Setup { end, ..setup })
        };
        let Outcome::Found { text, .. } = judged(&[], End::Idle, setup) else { panic!("it waits") };
        assert_eq!(text, "still waiting after 6 s; if it obeys, it would wait for a day");
        assert_eq!(judged(&[], End::Exited, setup), Outcome::Passed);
        assert_eq!(judged(&[0.5], End::Exited, setup), Outcome::Passed);
        let never = Setup { control: Some(("429|200", &[])), ..setup };
        assert_eq!(judged(&[], End::Exited, never), no_retry());
    }
}
