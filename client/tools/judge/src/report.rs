//! Evaluation of all situations: a verdict for each, with the findings of all rules.

use std::time::Duration;

use serde::Serialize;

use crate::advice::Advice;
use crate::observation::{End, Observation, ObservedRun, OperationType, OtherCall, Retry};
use crate::rule::{Case, Finding, Outcome, Severity};
use crate::rules::{RULES, early_retry};
use crate::suite::{Situation, Suite};
use crate::words::{attempts, extremes, range, time};

/// Finding that the user accepts: a rule, in one situation or in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub rule: String,
    pub situation: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SituationVerdict"))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Failed,
    Warned,
    // The situation has findings, and the user accepts all of them.
    Allowed,
    Passed,
    Skipped,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SituationRecord"))]
pub struct JudgedSituation {
    pub name: String,
    /// Answers of the server in words, such as `429, Retry-After: 3`.
    pub title: String,
    pub why: String,
    pub verdict: Verdict,
    /// Attempts, delays and outcome in words, or the reason for which the situation was skipped.
    pub note: String,
    pub findings: Vec<Finding>,
    #[serde(flatten)]
    pub observation: Observation,
    /// Number of ops that were not judged, because identical requests were in flight at the same time; only with `--serve`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ambiguous_ops: u64,
    /// Number of attempts that were counted but not kept; only with `--serve`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted_attempts: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Judges the observed situations of a suite. Situations without an observation are left out, because they did not complete.
pub fn report(
    suite: &Suite,
    observations: &[Option<Observation>],
    operation: Option<OperationType>,
    allowed: &[Allowed],
    idle: Duration,
) -> Report {
    let observed = || suite.situations.iter().zip(observations);
    let control = |name: &String| {
        let (situation, observation) = observed().find(|(situation, _)| situation.name == *name)?;
        Some((situation.title.as_str(), observation.as_ref()?))
    };
    let judged = observed().filter_map(|(situation, observation)| {
        let case = Case {
            observation: observation.as_ref()?,
            controls: situation.controls.iter().filter_map(control).collect(),
            operation,
            idle,
            waits_for_advice: situation.waits_for_advice,
        };
        Some(situation_judged(situation, &case, allowed))
    });
    let situations: Vec<JudgedSituation> = judged.collect();
    let causes = causes(suite, &situations);
    Report { situations, causes }
}

fn situation_judged(situation: &Situation, case: &Case<'_>, allowed: &[Allowed]) -> JudgedSituation {
    let Situation { name, title, why, .. } = situation;
    let judged = |verdict, findings, note| JudgedSituation {
        name: name.clone(),
        title: title.clone(),
        why: why.clone(),
        verdict,
        note,
        findings,
        observation: case.observation.clone(),
        ambiguous_ops: 0,
        uncounted_attempts: 0,
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
    let note = if verdict == Verdict::Skipped { reason.unwrap_or_default() } else { observed(case) };
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
    let is_hanging = |run: &ObservedRun| {
        run.end == End::Idle && run.attempts.last().is_some_and(|last| last.ended.is_none())
    };
    let hanging = || runs.iter().all(is_hanging).then(|| format!("no timeout within {}", time(case.idle)));
    runs.iter().find_map(other_query).or_else(hanging)
}

/// Returns the reason if the client, without a success, requested the same path with another query. It may be a retry.
fn other_query(run: &ObservedRun) -> Option<String> {
    let first = run.attempts.first().filter(|_| !run.has_succeeded())?;
    let (method, path) = (&first.method, first.target.split('?').next()?);
    let is_same = |other: &OtherCall| other.method == *method && other.target.split('?').next() == Some(path);
    run.others.iter().any(is_same).then(|| {
        format!("{method} {path} also with another query, perhaps as a retry (use --call '{method} {path}')")
    })
}

fn observed(case: &Case<'_>) -> String {
    let runs = &case.observation.runs;
    let counts = || runs.iter().map(|run| run.received);
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let mut parts = vec![if fewest == most { attempts(most) } else { format!("{fewest}–{most} attempts") }];
    let delays: Vec<String> = case.observation.delays(1).map(|delays| range(&delays)).collect();
    match delays.as_slice() {
        [] => {}
        [delay] => parts.push(format!("delay {delay}")),
        [one, two, _, .., last] => parts.push(format!("delays {one}, {two}, … {last}")),
        few => parts.push(format!("delays {}", few.join(", "))),
    }
    let ended = |end: fn(&ObservedRun) -> bool| runs.iter().all(end);
    if ended(|run| run.end == End::Idle && !run.has_succeeded()) {
        parts.push(format!("no retry within {}", time(case.idle)));
    } else if ended(|run| run.end == End::Idle) {
        parts.push(format!("still running {} later", time(case.idle)));
    }
    if let Some(first) = runs.first().and_then(|run| run.exit_code)
        && runs.iter().all(|run| run.exit_code == Some(first))
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
    let (apart, seen) = (one.advised.abs_diff(other.advised), one.delay.abs_diff(other.delay));
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
    let Some((low, high)) = extremes(&delays) else { return false };
    let slack = Duration::from_millis(5) + high / 50 + high.saturating_sub(low) / 2;
    let range = low.saturating_sub(slack).max(low / 2)..=high + slack;
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
