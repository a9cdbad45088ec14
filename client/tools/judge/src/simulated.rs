//! Observation of a strategy of this project, in virtual time.

use std::time::Duration;

use loadgen_core::RunLog;
use mockserver_core::{Fault, Script};
use recordings::{Clients, Trial};
use tailback::{Method, SpecError, StrategySpec};
use vocabulary::{Instant, WallTime};

use crate::advice::Advice;
use crate::observation::{Attempt, End, MAX_ATTEMPTS, Observation, ObservedRun, OperationType, Reply};
use crate::suite::{Situation, Success};

const TARGET: &str = "/v1/things";

/// Runs a strategy in one situation. `idle` ends a run as it ends the run of a command.
///
/// # Errors
/// Fails if the strategy cannot be started.
pub fn simulate(
    situation: &Situation,
    strategy: &StrategySpec,
    operation: OperationType,
    seed: u64,
    idle: Duration,
) -> Result<Observation, SpecError> {
    let method = match operation {
        OperationType::Read => "GET",
        OperationType::Write => "POST",
    };
    let script = situation.script(&Success::default()).expect("suites are checked when they are read");
    let strategy = strategy.clone().with_method(Method::named(method));
    let trial =
        Trial { strategy: &strategy, script: &script, clients: Clients::Fresh, ops: situation.runs, seed };
    let log = trial.log(MAX_ATTEMPTS as u64)?.log;
    let run = |op| observed(&log, op, &script, method, situation.waits_for_advice, idle);
    Ok(Observation { runs: (0..situation.runs as u64).map(run).collect(), has_keys: false })
}

fn observed(
    log: &RunLog,
    op: u64,
    script: &Script,
    method: &str,
    waits_for_advice: bool,
    idle: Duration,
) -> ObservedRun {
    let since = |at: Instant| at.since(Instant::ORIGIN);
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut end = End::Exited;
    let mut deadline = Duration::MAX;
    for sample in log.samples.iter().filter(|sample| sample.op == op) {
        if since(sample.sent) > deadline {
            end = End::Idle;
            break;
        }
        if attempts.len() == MAX_ATTEMPTS {
            end = End::TooManyAttempts;
            break;
        }
        let reply = expected(script, sample.attempt, WallTime::VIRTUAL_START.at(sample.ended));
        let advised = reply.advice().and_then(Advice::wait).filter(|_| waits_for_advice);
        let is_open = reply == Reply::Open && since(sample.ended) > since(sample.sent) + idle;
        deadline = since(sample.ended) + advised.unwrap_or_default() + idle;
        attempts.push(Attempt {
            method: method.to_owned(),
            target: TARGET.to_owned(),
            at: since(sample.sent),
            ended: (!is_open).then(|| since(sample.ended)),
            reply,
            ..Attempt::default()
        });
        if is_open {
            end = End::Idle;
            break;
        }
    }
    ObservedRun { received: attempts.len() as u64, attempts, end, ..ObservedRun::default() }
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
