//! Causes of early retries that follow from several situations together. A cause is reported only if it is certain.

use std::time::Duration;

use crate::advice::Advice;
use crate::judged::JudgedSituation;
use crate::observation::Retry;
use crate::rules::early_retry;
use crate::suite::Suite;
use crate::words::range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub situations: Vec<String>,
    pub text: String,
}

struct Early<'a> {
    judged: &'a JudgedSituation,
    advised: Duration,
    delay: Duration,
}

/// Time that a client may add to its delay: the sending of the request and its own work.
const ADDED: Duration = Duration::from_millis(30);

/// A client that confuses units differs between two advised waits by a thousandth of their difference. This is its tolerance.
const UNIT_TOLERANCE: Duration = Duration::from_millis(20);

/// Minimum difference between two advised waits at which a thousandth of them differs clearly from a fixed delay.
const MIN_APART: Duration = Duration::from_secs(50);

pub(super) fn causes(suite: &Suite, situations: &[JudgedSituation]) -> Vec<Cause> {
    let early: Vec<Early<'_>> = situations.iter().filter_map(early).collect();
    let (milliseconds, rest): (Vec<_>, Vec<_>) =
        early.iter().partition(|one| early.iter().any(|other| both_are_thousandths(one, other)));
    let ignored: Vec<&Early<'_>> =
        rest.into_iter().filter(|one| is_as_without_advice(suite, situations, one)).collect();
    let cause = |of: Vec<&Early<'_>>, text: &str| {
        let situations: Vec<String> = of.iter().map(|one| one.judged.name.clone()).collect();
        let text = text.replace("{delays}", &range(&of.iter().map(|one| one.delay).collect::<Vec<_>>()));
        (!situations.is_empty()).then_some(Cause { situations, text })
    };
    let thousandth = "the delays are 1/1000 of the advice. Are seconds used as milliseconds?";
    let same = "the delays ({delays}) are those without advice, so Retry-After has no effect here.";
    [cause(milliseconds, thousandth), cause(ignored, same)].into_iter().flatten().collect()
}

fn early(judged: &JudgedSituation) -> Option<Early<'_>> {
    let is_early = judged.findings.iter().any(|finding| finding.rule == early_retry::RULE.name);
    let first = judged.observation.runs.first()?.retries().find_map(|retry| {
        let Some(Advice::Seconds(advised)) = retry.before.reply.advice() else { return None };
        Some(Early { judged, advised, delay: Retry::delay(&retry) })
    });
    first.filter(|early| is_early && early.delay < early.advised)
}

fn is_thousandth(early: &Early<'_>) -> bool {
    let expected = early.advised / 1000;
    (expected.saturating_sub(Duration::from_millis(1))..=expected + ADDED).contains(&early.delay)
}

fn both_are_thousandths(one: &Early<'_>, other: &Early<'_>) -> bool {
    if one.advised < other.advised {
        return both_are_thousandths(other, one);
    }
    let (apart, seen) = (one.advised.saturating_sub(other.advised), one.delay.saturating_sub(other.delay));
    apart >= MIN_APART
        && is_thousandth(one)
        && is_thousandth(other)
        && seen.abs_diff(apart / 1000) <= UNIT_TOLERANCE
}

/// Whether the delay is like those after the same status without advice. Because these are few, their range is extended by half of its width, but
/// not below half of its low end. A range that also contains a thousandth of the advice proves nothing.
fn is_as_without_advice(suite: &Suite, situations: &[JudgedSituation], early: &Early<'_>) -> bool {
    let controls = suite.find(&early.judged.name).map(|situation| &situation.controls);
    let is_control =
        |judged: &&JudgedSituation| controls.is_some_and(|controls| controls.contains(&judged.name));
    let without_advice = |judged: &&JudgedSituation| is_control(judged) && !judged.observation.is_advised();
    let control = situations.iter().find(without_advice);
    let delays = control.map(|judged| judged.observation.delays_of(1)).unwrap_or_default();
    let (Some(low), Some(high)) = (delays.iter().min(), delays.iter().max()) else { return false };
    let slack = Duration::from_millis(5) + *high / 50 + high.saturating_sub(*low) / 2;
    let range = low.saturating_sub(slack).max(*low / 2)..=*high + slack;
    range.contains(&early.delay) && !range.contains(&(early.advised / 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::report;
    use crate::rules::testing::{Setup, observation};

    /// Causes if the first retry of each of the three situations with advised seconds is this late.
    fn causes_of(delays: [f64; 3]) -> Vec<Cause> {
        let suite = Suite::built_in(3).unwrap();
        let observed = |name: &str| {
            let index = ["throttled", "unavailable", "long"].iter().position(|one| *one == name)?;
            let script = ["429 retry-after:3|200", "503 retry-after:3|200", "429 retry-after:70|200"][index];
            Some(observation(script, &[&[delays[index]]], &Setup::default()))
        };
        let observations: Vec<_> = suite.names().map(observed).collect();
        report(&suite, &observations, None, &[], Duration::from_secs(6)).causes
    }

    #[test]
    fn only_delays_of_a_thousandth_of_the_advice_are_explained() {
        let [cause] = causes_of([0.003, 0.003, 0.07]).try_into().unwrap();
        assert_eq!(cause.situations, ["throttled", "unavailable", "long"]);
        assert_eq!(cause.text, "the delays are 1/1000 of the advice. Are seconds used as milliseconds?");
        let [cause] = causes_of([0.04, 0.003, 0.075]).try_into().unwrap();
        assert_eq!(cause.situations, ["unavailable", "long"]);
        assert_eq!(causes_of([0.003, 0.003, 0.02]), []);
    }
}
