//! Plan of the runs of a client: the controls first, because other situations depend on them, and further runs where the first ones do not
//! decide.

use crate::observation::{Observation, ObservedRun};
use crate::report::{Judge, Report};
use crate::rules::{backoff_lost, early_retry, no_jitter};
use crate::situation::Situation;
use crate::suite::{Suite, SuiteText};

/// Number of runs of a control that are added if its first ones do not show whether its delays have jitter.
const FURTHER_RUNS: usize = 5;

/// Number of runs that confirm that delays are lost, because jitter also makes some delays short.
const CONFIRMING_RUNS: usize = 7;

/// Factor of the advice in a further run, if the client's own delays are near the advice.
const LONGER_ADVICE: u64 = 2;

/// Status that takes the place of 429 for clients that retry only this one.
const OTHER_STATUS: u16 = 503;

/// One run of the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned<'a> {
    pub(super) situation: &'a Situation,
    /// Number of the run among those of its situation, from 1.
    pub(super) number: usize,
    pub(super) time_zone: Option<&'a str>,
    pub(super) waits_for_advice: bool,
    pub(super) has_longer_advice: bool,
}

/// Runs of a client: of a command in real time, or of a strategy in virtual time.
pub(super) trait Runner {
    fn is_real_time(&self) -> bool;

    /// Whether each run can have a time zone of its own.
    fn has_time_zones(&self) -> bool;

    /// Does all runs, at the same time or one by one. Runs that were interrupted have no result.
    ///
    /// # Errors
    /// Fails if the client cannot be started.
    fn run(&mut self, planned: &[Planned<'_>], one_by_one: bool) -> anyhow::Result<Vec<Option<ObservedRun>>>;
}

/// Suite as it was run, and the observations of its situations. They are `None` for situations that did not complete.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) suite: Suite,
    pub(super) observations: Vec<Option<Observation>>,
}

/// Session of a client with a suite.
pub(super) struct Session<'a> {
    pub(super) judge: &'a Judge<'a>,
    /// Parses the suite, and keeps the situations that the user wants.
    pub(super) selected: &'a dyn Fn(&SuiteText) -> anyhow::Result<Suite>,
    /// Whether long advice is awaited.
    pub(super) is_patient: bool,
    /// Whether the client may send idempotency keys.
    pub(super) has_keys: bool,
    pub(super) runner: &'a mut dyn Runner,
}

type Further<'a> = (usize, Planned<'a>);

impl Session<'_> {
    /// Runs the client in all situations.
    ///
    /// # Errors
    /// Fails if the suite is invalid, or the client cannot be started.
    pub(super) fn observe(mut self, text: &SuiteText) -> anyhow::Result<Observed> {
        let mut text = text.clone();
        let suite = (self.selected)(&text)?;
        let observations = suite.situations.iter().map(|_| None).collect();
        let mut observed = Observed { suite, observations };
        self.run_first(&mut observed, Suite::is_control)?;
        if observed.is_retried(OTHER_STATUS) && !observed.is_retried(text.retried) {
            text.retried = OTHER_STATUS;
            // A suite of the user may be valid only with the usual status and advice.
            if let Ok(other) = (self.selected)(&text) {
                observed.suite.replace_others(&other);
            }
        }
        self.run_first(&mut observed, |suite, situation| {
            !suite.is_control(situation) && situation.after.is_none()
        })?;
        text.advice_s *= LONGER_ADVICE;
        let longer = (self.selected)(&text).ok();
        self.run_further(&mut observed, longer.as_ref())?;
        let report = self.report(&observed);
        let is_found = |name: &str| report.findings().any(|(_, finding)| finding.rule == name);
        self.run_first(&mut observed, |_, situation| situation.after.as_deref().is_some_and(is_found))?;
        observed.remove_unneeded();
        if self.runner.is_real_time() {
            self.repeat_unexplained(&mut observed, longer.as_ref())?;
        }
        Ok(observed)
    }

    fn report(&self, observed: &Observed) -> Report {
        self.judge.report(&observed.suite, &observed.observations)
    }

    /// Does the usual runs of some situations. A situation without all of them has no observation.
    fn run_first(
        &mut self,
        observed: &mut Observed,
        is_wanted: impl Fn(&Suite, &Situation) -> bool,
    ) -> anyhow::Result<()> {
        let (suite, has_time_zones) = (&observed.suite, self.runner.has_time_zones());
        let wanted: Vec<usize> =
            (0..suite.situations.len()).filter(|index| is_wanted(suite, &suite.situations[*index])).collect();
        let planned: Vec<Vec<Planned<'_>>> =
            wanted.iter().map(|index| usual_runs(&suite.situations[*index], has_time_zones)).collect();
        let mut runs = self.runner.run(&planned.concat(), false)?.into_iter();
        let counts: Vec<usize> = planned.iter().map(Vec::len).collect();
        for (index, count) in wanted.into_iter().zip(counts) {
            let of_situation: Vec<Option<ObservedRun>> = runs.by_ref().take(count).collect();
            let (complete, has_keys) = (of_situation.into_iter().collect::<Option<Vec<_>>>(), self.has_keys);
            observed.observations[index] = complete.map(|runs| Observation { runs, has_keys });
        }
        Ok(())
    }

    /// Does the runs that decide what the usual ones left open. `longer` is the suite with longer advice.
    fn run_further(&mut self, observed: &mut Observed, longer: Option<&Suite>) -> anyhow::Result<()> {
        let (suite, observations) = (observed.suite.clone(), observed.observations.clone());
        let mut further: Vec<Further<'_>> = Vec::new();
        for (index, case) in self.judge.cases(&suite, &observations) {
            let (situation, done) = (case.situation, case.observation.runs.len());
            if situation.is_made_for(no_jitter::RULE.name) && no_jitter::may_be_steady(case.observation) {
                let numbers = done + 1..=done + FURTHER_RUNS;
                further.extend(numbers.map(|number| (index, usual_run(situation, number))));
            }
            if case.breaks(&backoff_lost::RULE) {
                let numbers = done + 1..=done + CONFIRMING_RUNS;
                further.extend(numbers.map(|number| (index, usual_run(situation, number))));
            }
            let longer = longer.and_then(|longer| longer.find(&situation.name));
            if let Some(longer) =
                longer.filter(|_| situation.waits_for_advice && early_retry::may_be_luck(&case))
            {
                further.push((index, Planned { has_longer_advice: true, ..usual_run(longer, done + 1) }));
            }
            if self.is_patient && situation.can_be_awaited() && early_retry::is_waiting(&case) {
                further.push((index, Planned { waits_for_advice: true, ..usual_run(situation, done + 1) }));
            }
        }
        self.add(observed, &further, false)
    }

    /// Runs situations with early retries that have no common cause again, one by one.
    fn repeat_unexplained(&mut self, observed: &mut Observed, longer: Option<&Suite>) -> anyhow::Result<()> {
        let suite = observed.suite.clone();
        let report = self.report(observed);
        let mut again: Vec<Further<'_>> = Vec::new();
        for (judged, finding) in
            report.findings().filter(|(_, finding)| finding.rule == early_retry::RULE.name)
        {
            let is_explained = report.causes.iter().any(|cause| cause.situations.contains(&judged.name));
            let index = suite.names().position(|name| name == judged.name).filter(|_| !is_explained);
            let (Some(index), Some(early)) = (index, finding.evidence.first()) else { continue };
            let runs = &judged.observation.runs;
            let first = &runs[early.run - 1];
            let longer =
                longer.filter(|_| first.has_longer_advice).and_then(|longer| longer.find(&judged.name));
            let situation = longer.unwrap_or(&suite.situations[index]);
            // A run that waited for long advice takes too long to be repeated.
            if first.waited_for_advice == situation.waits_for_advice {
                let (time_zone, has_longer_advice) = (first.time_zone.as_deref(), first.has_longer_advice);
                let usual = usual_run(situation, runs.len() + 1);
                again.push((index, Planned { time_zone, has_longer_advice, ..usual }));
            }
        }
        self.add(observed, &again, true)
    }

    fn add(
        &mut self,
        observed: &mut Observed,
        further: &[Further<'_>],
        one_by_one: bool,
    ) -> anyhow::Result<()> {
        let planned: Vec<Planned<'_>> = further.iter().map(|(_, planned)| *planned).collect();
        let runs = self.runner.run(&planned, one_by_one)?;
        for ((index, _), run) in further.iter().zip(runs) {
            if let (Some(observation), Some(run)) = (&mut observed.observations[*index], run) {
                observation.runs.push(run);
            }
        }
        Ok(())
    }
}

impl Observed {
    /// Whether the client retried this status without advice.
    fn is_retried(&self, status: u16) -> bool {
        let is_retried =
            |one: &Observation| one.code() == Some(status) && !one.is_advised() && one.has_retry();
        self.observations.iter().flatten().any(is_retried)
    }

    /// Removes the situations that were not run, because the rule that they follow was not broken.
    fn remove_unneeded(&mut self) {
        let situations = std::mem::take(&mut self.suite.situations).into_iter();
        let both = situations.zip(std::mem::take(&mut self.observations));
        let kept = both.filter(|(situation, observation)| situation.after.is_none() || observation.is_some());
        (self.suite.situations, self.observations) = kept.unzip();
    }
}

/// Returns the usual runs of a situation: one for each time zone, or else as many as it names.
fn usual_runs(situation: &Situation, has_time_zones: bool) -> Vec<Planned<'_>> {
    if has_time_zones && !situation.time_zones.is_empty() {
        return (1..)
            .zip(&situation.time_zones)
            .map(|(number, zone)| Planned { time_zone: Some(zone), ..usual_run(situation, number) })
            .collect();
    }
    (1..=situation.runs).map(|number| usual_run(situation, number)).collect()
}

fn usual_run(situation: &Situation, number: usize) -> Planned<'_> {
    let waits_for_advice = situation.waits_for_advice;
    Planned { situation, number, time_zone: None, waits_for_advice, has_longer_advice: false }
}
