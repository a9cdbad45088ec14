//! Observation of a strategy of this project, in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use loadgen_core::RunLog;
use mockserver_core::{Fault, Script};
use recordings::{Clients, Trial};
use tailback::{Method, SpecError, StrategySpec};
use vocabulary::{Instant, WallTime};

use crate::advice::Advice;
use crate::answers::Answers;
use crate::observation::{Attempt, End, MAX_ATTEMPTS, Observation, ObservedRun, OperationType, Reply};
use crate::plan::{Planned, Runner, Session};
use crate::report::{Judge, Report};
use crate::situation::Situation;
use crate::suite::{Suite, SuiteText};

const TARGET: &str = "/v1/things";

/// Strategy whose runs are simulated. `idle` ends a run as it ends the run of a command.
#[derive(Clone, Copy, Debug)]
pub struct Simulated<'a> {
    pub strategy: &'a StrategySpec,
    pub operation: OperationType,
    pub seed: u64,
    pub idle: Duration,
}

impl Simulated<'_> {
    /// Judges the strategy in all usual situations of a suite.
    ///
    /// # Errors
    /// Fails if the suite is invalid, or the strategy cannot be started.
    pub fn report(mut self, text: &SuiteText) -> anyhow::Result<Report> {
        let selected = |text: &SuiteText| {
            let mut suite = text.parse()?;
            suite.keep_usual(false);
            Ok(suite)
        };
        let judge = Judge { operation: None, allowed: &[], idle: self.idle, expected_attempts: None };
        let (judge, selected) = (&judge, &selected);
        let session = Session { judge, selected, is_patient: true, has_keys: false, runner: &mut self };
        let observed = session.observe(text)?;
        Ok(judge.report(&observed.suite, &observed.observations))
    }

    /// Runs the strategy in the usual runs of all situations of a suite, as it was run for another client.
    ///
    /// # Errors
    /// Fails if the strategy cannot be started.
    pub(super) fn observations(&self, suite: &Suite) -> Result<Vec<Option<Observation>>, SpecError> {
        let observed = |situation: &Situation| {
            let runs = self.runs(situation, situation.runs, situation.waits_for_advice)?;
            Ok(Some(Observation { runs, has_keys: false }))
        };
        suite.situations.iter().map(observed).collect()
    }

    fn runs(
        &self,
        situation: &Situation,
        count: usize,
        waits_for_advice: bool,
    ) -> Result<Vec<ObservedRun>, SpecError> {
        let method = match self.operation {
            OperationType::Read => "GET",
            OperationType::Write => "POST",
        };
        let script = situation.script(&Answers::default()).expect("suites are checked when they are read");
        let strategy = self.strategy.clone().with_method(Method::named(method));
        let trial = Trial {
            strategy: &strategy,
            script: &script,
            clients: Clients::Fresh,
            ops: count,
            seed: self.seed,
        };
        let log = trial.log(MAX_ATTEMPTS as u64)?.log;
        let view = View { log: &log, script: &script, method, situation, waits_for_advice, idle: self.idle };
        Ok((0..count as u64).map(|op| view.run(op)).collect())
    }
}

impl Runner for Simulated<'_> {
    fn is_real_time(&self) -> bool {
        false
    }

    fn has_time_zones(&self) -> bool {
        false
    }

    fn run(
        &mut self,
        planned: &[Planned<'_>],
        _one_by_one: bool,
    ) -> anyhow::Result<Vec<Option<ObservedRun>>> {
        // Runs of a situation are ops of one simulation, so all runs up to the last number are done at once.
        let mut last: BTreeMap<(&str, bool, bool), (usize, &Situation)> = BTreeMap::new();
        let key = |planned: &Planned<'_>| (planned.waits_for_advice, planned.has_longer_advice);
        for planned in planned {
            let (waits, is_longer) = key(planned);
            let most =
                last.entry((&planned.situation.name, waits, is_longer)).or_insert((0, planned.situation));
            most.0 = most.0.max(planned.number);
        }
        let mut all = BTreeMap::new();
        for ((name, waits, is_longer), (count, situation)) in last {
            all.insert((name, waits, is_longer), self.runs(situation, count, waits)?);
        }
        let run = |planned: &Planned<'_>| {
            let (waits, is_longer) = key(planned);
            let runs = all.get(&(planned.situation.name.as_str(), waits, is_longer));
            let run = runs.and_then(|runs| runs.get(planned.number - 1)).cloned();
            run.map(|run| ObservedRun { has_longer_advice: is_longer, ..run })
        };
        Ok(planned.iter().map(run).collect())
    }
}

/// View of a simulation as the runs of a command.
struct View<'a> {
    log: &'a RunLog,
    script: &'a Script,
    method: &'a str,
    situation: &'a Situation,
    waits_for_advice: bool,
    idle: Duration,
}

impl View<'_> {
    fn run(&self, op: u64) -> ObservedRun {
        let since = |at: Instant| at.since(Instant::ORIGIN);
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut end = End::Exited;
        let mut deadline = Duration::MAX;
        for sample in self.log.samples.iter().filter(|sample| sample.op == op) {
            if since(sample.sent) > deadline {
                end = End::Idle;
                break;
            }
            if attempts.len() == self.situation.max_attempts {
                end = End::TooManyAttempts;
                break;
            }
            let reply = expected(self.script, sample.attempt, WallTime::VIRTUAL_START.at(sample.ended));
            let advised = reply.advice().and_then(Advice::wait).filter(|_| self.waits_for_advice);
            let is_open = reply == Reply::Open && since(sample.ended) > since(sample.sent) + self.idle;
            deadline = since(sample.ended) + advised.unwrap_or_default() + self.idle;
            attempts.push(Attempt {
                method: self.method.to_owned(),
                target: TARGET.to_owned(),
                at: since(sample.sent),
                ended: (!is_open).then(|| since(sample.ended)),
                reply,
                ..Attempt::default()
            });
            if is_open {
                (end, deadline) = (End::Idle, since(sample.sent) + self.idle);
                break;
            }
        }
        ObservedRun {
            received: attempts.len() as u64,
            attempts,
            end,
            ended: deadline,
            waited_for_advice: self.waits_for_advice,
            ..ObservedRun::default()
        }
    }
}

/// Returns the reply that a script has for an attempt, if it is sent at the calendar time `now`. Attempts are counted from 1.
pub(crate) fn expected(script: &Script, attempt: u32, now: WallTime) -> Reply {
    let step = script.step(0, attempt);
    match step.fault() {
        Some(Fault::Hang) => Reply::Open,
        Some(_) => Reply::Broken { executed: step.counts_as_accepted() },
        None => {
            let headers: Vec<_> = step.answer.headers(now).collect();
            let header =
                |name: &str| headers.iter().find(|(there, _)| *there == name).map(|(_, value)| &**value);
            Reply::Status { code: step.answer.status, advice: Advice::parse(header, now) }
        }
    }
}
