//! Evaluation of all situations: a verdict for each, with the findings of all rules.

use std::time::Duration;

use serde::Serialize;

use crate::advice::Advice;
use crate::observation::{Attempt, End, Observation, ObservedRun, OperationType, OtherCall, Retry};
use crate::rule::{Case, Evidence, Finding, Outcome, Severity};
use crate::rules::not_retried::hangs_later;
use crate::rules::{RULES, early_retry, header_ignored, not_retried, unexpected_attempts};
use crate::situation::{Level, Situation, Table};
use crate::suite::Suite;
use crate::words::{attempts, delay, extremes, range, time};

pub(super) const SPEAKS_TLS: &str = "the client speaks TLS, which `judge` does not yet";

/// Finding that the user accepts: a rule, in one situation or in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub rule: String,
    pub situation: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    pub situations: Vec<JudgedSituation>,
    /// Observations without a verdict; only with `--patient` or `--only`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableRow>,
    pub causes: Vec<Cause>,
}

/// Row of a table without verdicts: what the client does after one answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableRow {
    pub table: Table,
    pub name: String,
    /// Answers of the server in words.
    pub title: String,
    pub reaction: Reaction,
    #[serde(flatten)]
    pub observation: Observation,
}

// Reaction of a client to an answer of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    Retried,
    NotRetried,
    /// The client obeys the advice.
    Obeyed,
    Ignored,
    /// It is not known: the client does not retry the status of the advice, its own delays are as long, or it still waited at the end.
    Unclear,
}

impl Report {
    /// Returns all findings, each with its situation.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&JudgedSituation, &Finding)> {
        self.situations.iter().flat_map(|judged| judged.findings.iter().map(move |finding| (judged, finding)))
    }

    pub fn count(&self, verdict: Verdict) -> usize {
        self.situations.iter().filter(|situation| situation.verdict == verdict).count()
    }

    /// Number of retries that were earlier than `Retry-After` asked for.
    pub fn early_retries(&self) -> usize {
        let early = self.findings().filter(|(_, finding)| finding.rule == early_retry::RULE.name);
        early.flat_map(|(_, finding)| &finding.evidence).map(|evidence| evidence.attempts.len()).sum()
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

/// Settings by which a client is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge<'a> {
    pub operation: Option<OperationType>,
    pub allowed: &'a [Allowed],
    pub idle: Duration,
    /// Number of attempts that the user expects of a call that never succeeds.
    pub expected_attempts: Option<u64>,
}

impl Judge<'_> {
    /// Judges the observed situations of a suite. Situations without an observation are left out, because they did not complete.
    pub(crate) fn report(&self, suite: &Suite, observations: &[Option<Observation>]) -> Report {
        let mut report = Report { situations: Vec::new(), tables: Vec::new(), causes: Vec::new() };
        for (_, case) in self.cases(suite, observations) {
            match case.situation.table {
                Some(table) => report.tables.push(row(table, &case)),
                None => report.situations.push(situation_judged(&case, self.allowed)),
            }
        }
        report.causes = causes(suite, &report.situations);
        report
    }

    /// Returns what the rules use of each observed situation, with its index.
    pub(super) fn cases<'a>(
        &self,
        suite: &'a Suite,
        observations: &'a [Option<Observation>],
    ) -> impl Iterator<Item = (usize, Case<'a>)> {
        let Self { operation, idle, expected_attempts, .. } = *self;
        let observed = move || suite.situations.iter().zip(observations);
        let control = move |name: &String| {
            let (situation, observation) = observed().find(|(situation, _)| situation.name == *name)?;
            Some((situation.title.as_str(), observation.as_ref()?))
        };
        observed().enumerate().filter_map(move |(index, (situation, observation))| {
            let observation = observation.as_ref()?;
            let controls = situation.controls.iter().filter_map(control).collect();
            Some((index, Case { observation, controls, situation, operation, idle, expected_attempts }))
        })
    }
}

fn row(table: Table, case: &Case<'_>) -> TableRow {
    let Situation { name, title, .. } = case.situation;
    let reaction = match table {
        _ if unjudgeable(case).is_some() => Reaction::Unclear,
        Table::Statuses if case.observation.has_retry() => Reaction::Retried,
        Table::Statuses if case.observation.runs.iter().all(ObservedRun::is_over) => Reaction::NotRetried,
        Table::Statuses => Reaction::Unclear,
        Table::Advice => match (header_ignored::RULE.check)(case) {
            Outcome::Found { .. } | Outcome::Warned { .. } => Reaction::Ignored,
            Outcome::Passed => Reaction::Obeyed,
            Outcome::NoEvidence(_) => Reaction::Unclear,
        },
    };
    TableRow {
        table,
        name: name.clone(),
        title: title.clone(),
        reaction,
        observation: case.observation.clone(),
    }
}

fn situation_judged(case: &Case<'_>, allowed: &[Allowed]) -> JudgedSituation {
    let situation = case.situation;
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
    let (mut has_passed, mut is_unproven, mut reason) = (false, false, None);
    for rule in RULES {
        let level = situation.levels.get(rule.name);
        if level == Some(&Level::Off) {
            continue;
        }
        let is_purpose = situation.is_made_for(rule.name);
        let outcome = (rule.check)(case);
        let is_warning = level == Some(&Level::Warn) || matches!(outcome, Outcome::Warned { .. });
        let severity = if is_warning { Severity::Warn } else { rule.severity };
        match outcome {
            Outcome::Found { text, evidence } | Outcome::Warned { text, evidence } => {
                let accepts = |allowed: &Allowed| {
                    allowed.rule == rule.name
                        && allowed.situation.as_ref().is_none_or(|wanted| wanted == name)
                };
                let allowed = allowed.iter().any(accepts);
                let text = text + &of_runs(&case.observation.runs, &evidence);
                findings.push(Finding { rule: rule.name, severity, text, evidence, allowed });
            }
            Outcome::Passed => has_passed |= is_purpose,
            Outcome::NoEvidence(why) if is_purpose => {
                let is_unexpected =
                    rule.name == unexpected_attempts::RULE.name && case.expected_attempts.is_some();
                is_unproven |= is_unexpected;
                // An expected number and a stream that cannot be sent again are better reasons than that there was no retry.
                if reason.is_none() || is_unexpected || rule.name == not_retried::RULE.name {
                    reason = Some(why);
                }
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
        () if has_passed && !is_unproven => Verdict::Passed,
        () => Verdict::Skipped,
    };
    let note = if verdict == Verdict::Skipped { reason.unwrap_or_default() } else { observed(case) };
    judged(verdict, findings, note)
}

/// Names the runs of a finding that not all runs have: by their time zones, or by their number.
fn of_runs(runs: &[ObservedRun], evidence: &[Evidence]) -> String {
    // A run that was ended while the client waited as advised shows nothing.
    let all = runs.iter().filter(|run| !run.is_waiting()).count();
    if evidence.len() >= all {
        return String::new();
    }
    if evidence.iter().all(|evidence| runs.get(evidence.run - 1).is_some_and(|run| run.has_longer_advice)) {
        return ", when the advice was twice as long".to_owned();
    }
    let mut zones: Vec<&str> =
        evidence.iter().filter_map(|evidence| runs.get(evidence.run - 1)?.time_zone.as_deref()).collect();
    zones.dedup();
    let is_of_all = |zones: &[&str]| {
        runs.iter().all(|run| run.time_zone.as_deref().is_none_or(|zone| zones.contains(&zone)))
    };
    match zones.as_slice() {
        [] => format!(", in {} of {all} runs", evidence.len()),
        zones if is_of_all(zones) => String::new(),
        zones => format!(", with TZ={}", zones.join(" and ")),
    }
}

/// Returns the reason why no rule can judge the situation.
fn unjudgeable(case: &Case<'_>) -> Option<String> {
    let runs = &case.observation.runs;
    if case.observation.is_empty() && runs.iter().any(|run| run.tls_seen) {
        return Some(SPEAKS_TLS.to_owned());
    }
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
    let is_open = |attempt: &Attempt| attempt.ended.is_none() && attempt.body.promised.is_none();
    let is_hanging = |run: &ObservedRun| {
        run.end == End::Idle && run.attempts.last().is_some_and(is_open) && hangs_later(run).is_none()
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
    let mut runs: Vec<&ObservedRun> = case.observation.runs.iter().collect();
    // With --patient, a further run takes the place of the one that was ended while the client waited.
    if runs.iter().any(|run| !run.is_waiting()) {
        runs.retain(|run| !run.is_waiting());
    }
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
    let ended = |end: fn(&ObservedRun) -> bool| runs.iter().copied().all(end);
    if ended(|run| run.end == End::Idle && !run.has_succeeded()) {
        parts.push(format!("no retry within {}", time(case.idle)));
    } else if ended(|run| run.end == End::Idle) {
        parts.push(format!("still running {} later", time(case.idle)));
    }
    if let Some(first) = runs.first().and_then(|run| run.exit_code)
        && runs.iter().all(|run| run.exit_code == Some(first))
    {
        let after = runs.iter().copied().filter_map(to_exit).max().filter(|after| *after >= LONG_EXIT);
        let after =
            after.map(|after| format!(", {} after the last answer", delay(after))).unwrap_or_default();
        parts.push(format!("exit {first}{after}"));
    }
    parts.join("; ")
}

/// Time between the last answer and the exit that is named. Programs need less to end.
const LONG_EXIT: Duration = Duration::from_millis(500);

fn to_exit(run: &ObservedRun) -> Option<Duration> {
    let last = run.attempts.last()?.ended?;
    run.exited_s.map(|_| run.ended.saturating_sub(last))
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
    let slow = early.iter().find(|one| waits_a_thousandth(suite, situations, one, &early));
    let (milliseconds, rest): (Vec<_>, Vec<_>) = early.iter().partition(|one| {
        early.iter().any(|other| both_are_thousandths(one, other))
            || slow.is_some() && one.delay >= (one.advised / 1000).saturating_sub(Duration::from_millis(1))
    });
    let ignored: Vec<&Early<'_>> =
        rest.into_iter().filter(|one| is_as_without_advice(suite, situations, one)).collect();
    let cause = |of: Vec<&Early<'_>>, text: &str| {
        let situations: Vec<String> = of.iter().map(|one| one.judged.name.clone()).collect();
        let pairs: Vec<String> =
            of.iter().map(|one| format!("{}: {}", time(one.advised), delay(one.delay))).collect();
        let text = text.replace("{delays}", &range(&of.iter().map(|one| one.delay).collect::<Vec<_>>()));
        let text = text.replace("{pairs}", &pairs.join(", "));
        (!situations.is_empty()).then_some(Cause { situations, text })
    };
    let thousandth = "the delays are 1/1000 of the advice ({pairs}). Are seconds used as milliseconds?";
    let same = "the delays ({delays}) are those without advice, so Retry-After has no effect here.";
    [cause(milliseconds, thousandth), cause(ignored, same)].into_iter().flatten().collect()
}

fn early(judged: &JudgedSituation) -> Option<Early<'_>> {
    let mut found = judged.findings.iter().filter(|finding| finding.rule == early_retry::RULE.name);
    let run = judged.observation.runs.get(found.next()?.evidence.first()?.run - 1)?;
    let early = run.retries().filter_map(|retry| {
        let Some(Advice::Seconds(advised)) = retry.before.reply.advice() else { return None };
        Some(Early { judged, advised, delay: Retry::delay(&retry) })
    });
    early.into_iter().find(|early| early.delay < early.advised)
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

/// Advice of which a thousandth is much longer than what a client adds to its delays.
const LONG_ADVICE: Duration = Duration::from_secs(1000);
const MAX_ADDED: Duration = Duration::from_millis(500);

/// Whether the client waited for a thousandth of long advice, although all its other delays are clearly shorter.
fn waits_a_thousandth(
    suite: &Suite,
    situations: &[JudgedSituation],
    one: &Early<'_>,
    early: &[Early<'_>],
) -> bool {
    let expected = one.advised / 1000;
    let limit = expected / 2;
    let others = early.iter().filter(|other| other.judged.name != one.judged.name);
    one.advised >= LONG_ADVICE
        && (expected.saturating_sub(Duration::from_millis(1))..=expected + MAX_ADDED).contains(&one.delay)
        && others
            .map(|other| other.delay)
            .chain(own_delays(suite, situations, one))
            .all(|delay| delay < limit)
}

/// Returns the first delays after the same status without advice.
fn own_delays(suite: &Suite, situations: &[JudgedSituation], early: &Early<'_>) -> Vec<Duration> {
    let controls = suite.find(&early.judged.name).map(|situation| &situation.controls);
    let is_control = |judged: &&JudgedSituation| {
        controls.is_some_and(|controls| controls.contains(&judged.name))
            && judged.observation.code() == early.judged.observation.code()
            && !judged.observation.is_advised()
    };
    situations.iter().filter(is_control).flat_map(|judged| judged.observation.delays_of(1)).collect()
}

/// Whether the delay is like those after the same status without advice. Because these are few, their range is extended by half of its width, but
/// not below half of its low end. A range that also contains a thousandth of the advice proves nothing.
fn is_as_without_advice(suite: &Suite, situations: &[JudgedSituation], early: &Early<'_>) -> bool {
    let delays = own_delays(suite, situations, early);
    let Some((low, high)) = extremes(&delays) else { return false };
    let slack = Duration::from_millis(5) + high / 50 + high.saturating_sub(low) / 2;
    let range = low.saturating_sub(slack).max(low / 2)..=high + slack;
    range.contains(&early.delay) && !range.contains(&(early.advised / 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, observation};
    use crate::suite::SuiteText;

    fn judge() -> Judge<'static> {
        let idle = Duration::from_secs(6);
        Judge { operation: None, allowed: &[], idle, expected_attempts: None }
    }

    /// Causes if the first retry of each of the three situations with advised seconds is this late.
    fn causes_of(delays: [f64; 3]) -> Vec<Cause> {
        let suite = SuiteText::built_in(3).parse().unwrap();
        let observed = |name: &str| {
            let index = ["throttled", "unavailable", "long"].iter().position(|one| *one == name)?;
            let script = ["429 retry-after:3|200", "503 retry-after:3|200", "429 retry-after:70|200"][index];
            Some(observation(script, &[&[delays[index]]], &Setup::default()))
        };
        let observations: Vec<_> = suite.names().map(observed).collect();
        judge().report(&suite, &observations).causes
    }

    #[test]
    fn only_delays_of_a_thousandth_of_the_advice_are_explained() {
        let [cause] = causes_of([0.003, 0.003, 0.07]).try_into().unwrap();
        assert_eq!(cause.situations, ["throttled", "unavailable", "long"]);
        let pairs = "3 s: 3 ms, 3 s: 3 ms, 70 s: 70 ms";
        let text =
            format!("the delays are 1/1000 of the advice ({pairs}). Are seconds used as milliseconds?");
        assert_eq!(cause.text, text);
        let [cause] = causes_of([0.04, 0.003, 0.075]).try_into().unwrap();
        assert_eq!(cause.situations, ["unavailable", "long"]);
        assert_eq!(causes_of([0.003, 0.003, 0.02]), []);
    }
}
