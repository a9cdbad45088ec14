//! Evaluation of all situations: a verdict for each, with the findings of all rules.

use std::time::Duration;

use serde::Serialize;

use crate::advice::Advice;
use crate::judged::{JudgedSituation, Verdict};
use crate::observation::{End, MAX_ATTEMPTS, Observation, ObservedRun, OperationType, OtherCall, Retry};
use crate::rule::{Case, Finding, Outcome, Severity};
use crate::rules::{RULES, early_retry};
use crate::suite::{Situation, Suite};
use crate::words::{attempts, range, time};

/// Finding that the user accepts: a rule, in one situation or in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub rule: String,
    pub situation: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub situations: Vec<JudgedSituation>,
    pub causes: Vec<Cause>,
}

impl Report {
    pub fn count(&self, verdict: Verdict) -> usize {
        self.situations.iter().filter(|situation| situation.verdict == verdict).count()
    }

    /// Number of retries that were earlier than `Retry-After` asked for.
    pub fn early_retries(&self) -> usize {
        let findings = self.situations.iter().flat_map(|situation| &situation.findings);
        let early = findings.filter(|finding| finding.rule == early_retry::RULE.name);
        early.flat_map(|finding| &finding.evidence).map(|evidence| evidence.attempts.len()).sum()
    }
}

/// Judges the observed situations of a suite. Situations without an observation are left out, because they did not complete.
pub fn report(
    suite: &Suite,
    observations: &[Option<Observation>],
    operation: Option<OperationType>,
    allowed: &[Allowed],
    idle: Duration,
) -> Report {
    let of = |name: &str| {
        let index = suite.situations.iter().position(|situation| situation.name == name)?;
        observations.get(index)?.as_ref()
    };
    let judged = suite.situations.iter().zip(observations).filter_map(|(situation, observation)| {
        let observation = observation.as_ref()?;
        let controls = situation.controls.iter().filter_map(|name| Some((titled(suite, name)?, of(name)?)));
        let controls = controls.collect();
        let waits_for_advice = situation.waits_for_advice;
        let case = Case { observation, controls, operation, idle, waits_for_advice };
        Some(situation_judged(situation, &case, allowed))
    });
    let situations: Vec<JudgedSituation> = judged.collect();
    let causes = causes(suite, &situations);
    Report { situations, causes }
}

fn titled<'a>(suite: &'a Suite, name: &str) -> Option<&'a str> {
    suite.find(name).map(|situation| situation.title.as_str())
}

fn situation_judged(situation: &Situation, case: &Case<'_>, allowed: &[Allowed]) -> JudgedSituation {
    let Situation { name, title, why, .. } = situation;
    let judged = |verdict, findings, note| JudgedSituation {
        name: name.clone(),
        title: title.clone(),
        why: why.clone(),
        verdict,
        findings,
        note,
        observation: case.observation.clone(),
    };
    if let Some(reason) = unjudgeable(case) {
        return judged(Verdict::Skipped, Vec::new(), reason);
    }
    let mut findings = Vec::new();
    let (mut has_passed, mut reason) = (false, None);
    for rule in RULES {
        let is_purpose = situation.rules.iter().any(|purpose| purpose.name == rule.name);
        match (rule.check)(case) {
            Outcome::Found { text, evidence } => {
                let accepts = |allowed: &Allowed| {
                    allowed.rule == rule.name
                        && allowed.situation.as_ref().is_none_or(|wanted| wanted == name)
                };
                let allowed = allowed.iter().any(accepts);
                findings.push(Finding { rule: rule.name, severity: rule.severity, text, evidence, allowed });
            }
            Outcome::Passed => has_passed |= is_purpose,
            Outcome::NoEvidence(why) if is_purpose => {
                reason.get_or_insert(why);
            }
            Outcome::NoEvidence(_) => {}
        }
    }
    if situation.rules.is_empty() {
        has_passed = case.observation.has_retry();
        reason = reason.or_else(|| Some(case.reason_without_retry()));
    }
    let open =
        |severity| findings.iter().any(|finding: &Finding| finding.severity == severity && !finding.allowed);
    let verdict = match () {
        () if open(Severity::Fail) => Verdict::Failed,
        () if open(Severity::Warn) => Verdict::Warned,
        () if !findings.is_empty() => Verdict::Allowed,
        () if has_passed => Verdict::Passed,
        () => Verdict::Skipped,
    };
    let note = match verdict {
        Verdict::Skipped => reason.unwrap_or_default(),
        _ => observed(case),
    };
    judged(verdict, findings, note)
}

/// Returns the reason why no rule can judge the situation.
fn unjudgeable(case: &Case<'_>) -> Option<String> {
    let runs = &case.observation.runs;
    if case.observation.is_empty() {
        return Some("no request received".to_owned());
    }
    if runs.iter().any(ObservedRun::overlaps) {
        let call = case.observation.attempts().next()?;
        return Some(format!(
            "several requests {} {} were in flight at the same time",
            call.method, call.target
        ));
    }
    if let Some(query) = runs.iter().find_map(other_query) {
        return Some(query);
    }
    let is_hanging = |run: &ObservedRun| {
        run.end == End::Idle && run.attempts.last().is_some_and(|last| last.ended.is_none())
    };
    runs.iter().all(is_hanging).then(|| format!("no timeout within {}", time(case.idle)))
}

/// Returns the reason if the client, without a success, requested the same path with another query. It may be a retry.
fn other_query(run: &ObservedRun) -> Option<String> {
    let path = |target: &str| target.split('?').next().unwrap_or_default().to_owned();
    let first = run.attempts.first().filter(|_| !run.has_succeeded())?;
    let (method, path_of_first) = (&first.method, path(&first.target));
    let is_same = |other: &&OtherCall| other.method == *method && path(&other.target) == path_of_first;
    run.others.iter().find(is_same).map(|_| {
        format!("{method} {path_of_first} also with another query, perhaps as a retry (use --call '{method} {path_of_first}')")
    })
}

fn observed(case: &Case<'_>) -> String {
    let runs = &case.observation.runs;
    let counts: Vec<u64> = runs.iter().map(|run| run.received).collect();
    let (fewest, most) =
        (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    let mut parts = vec![if fewest == most { attempts(most) } else { format!("{fewest}–{most} attempts") }];
    let delays: Vec<String> = (1..MAX_ATTEMPTS)
        .map(|index| case.observation.delays_of(index))
        .take_while(|delays| !delays.is_empty())
        .map(|delays| range(&delays))
        .collect();
    match delays.as_slice() {
        [] => {}
        [delay] => parts.push(format!("delay {delay}")),
        [one, two, three] => parts.push(format!("delays {one}, {two}, {three}")),
        [one, two] => parts.push(format!("delays {one}, {two}")),
        [one, two, .., last] => parts.push(format!("delays {one}, {two}, … {last}")),
    }
    let ended = |end: fn(&ObservedRun) -> bool| runs.iter().all(end);
    if ended(|run| run.end == End::Idle && !run.has_succeeded()) {
        parts.push(format!("no retry within {}", time(case.idle)));
    } else if ended(|run| run.end == End::Idle) {
        parts.push(format!("still running {} later", time(case.idle)));
    }
    let code = |run: &ObservedRun| if let End::Exited(code) = run.end { code } else { None };
    if let Some(first) = runs.first().and_then(code)
        && runs.iter().all(|run| code(run) == Some(first))
    {
        parts.push(format!("exit {first}"));
    }
    parts.join("; ")
}

// Causes of early retries that follow from several situations together. A cause is reported only if it is certain.

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CauseRecord"))]
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
