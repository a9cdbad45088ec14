//! `--serve`: the servers of all situations for services and test suites, until a signal ends the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{StatusCode, Uri, Version};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use mockserver::{Embedded, refuse_other_sites};
use serde::Serialize;
use shell::files::output::to_stdout;
use shell::runner::interrupt::Interrupt;

use crate::document::record;
use crate::door::{Calls, Door};
use crate::judgement::SituationRecord;
use crate::observation::{End, Observation, ObservedRun, OperationType};
use crate::report::{Allowed, report};
use crate::runs::{Observed, start};
use crate::suite::Suite;

const POLL: Duration = Duration::from_millis(20);

/// First line on stdout: the URL of each situation's server.
#[derive(Debug, Serialize)]
struct Situations<'a> {
    situations: BTreeMap<&'a str, String>,
}

#[derive(Debug)]
pub(super) struct Rules {
    pub(super) operation: Option<OperationType>,
    pub(super) allowed: Vec<Allowed>,
    pub(super) idle: Duration,
    /// Names that are accepted as `Host` of requests that end ops, besides addresses and `localhost`.
    pub(super) hosts: Vec<String>,
}

#[derive(Debug)]
struct Session {
    suite: Suite,
    rules: Rules,
    doors: Vec<Door>,
    /// Ops that were ended by a request to `/_judge/end`, situation by situation.
    ended: Mutex<Vec<Vec<ObservedRun>>>,
}

/// Serves all situations until a signal arrives. Returns all ops of the session.
pub(super) fn serve(
    suite: &Suite,
    calls: &Arc<Calls>,
    rules: Rules,
    interrupt: &Interrupt,
) -> anyhow::Result<Observed> {
    let mut doors = Vec::with_capacity(suite.situations.len());
    for situation in &suite.situations {
        let script = situation.script(&calls.success)?;
        doors.push((Door::new(calls.clone(), script.clone(), situation.waits_for_advice), script));
    }
    let ended = Mutex::new(vec![Vec::new(); doors.len()]);
    let scripts: Vec<_> = doors.iter().map(|(_, script)| script.clone()).collect();
    let doors = doors.into_iter().map(|(door, _)| door).collect();
    let session = Arc::new(Session { suite: suite.clone(), rules, doors, ended });
    let servers = (0..scripts.len()).map(|index| {
        let end = post(end).with_state((session.clone(), index));
        let around = |router: Router| session.doors[index].around(router).route("/_judge/end", end);
        start(&scripts[index], around)
    });
    let servers: Vec<Embedded> = servers.collect::<anyhow::Result<_>>()?;
    let urls =
        suite.names().zip(&servers).map(|(name, server)| (name, format!("http://{}", server.address())));
    let mut line = serde_json::to_vec(&Situations { situations: urls.collect() })?;
    line.push(b'\n');
    to_stdout(&line)?;
    while interrupt.received() == 0 {
        std::thread::sleep(POLL);
    }
    drop(servers);
    let all = |index| Some(observation(session.all(index)));
    let observations = (0..session.doors.len()).map(all).collect();
    Ok(Observed { observations, outputs: vec![String::new(); suite.situations.len()] })
}

/// Ends the ops of a situation and returns the verdict on them. Later requests are new ops. Web pages of other servers must not end ops.
async fn end(
    State((session, index)): State<(Arc<Session>, usize)>,
    version: Version,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let advice = "name it with `--allow-host`";
    if let Err(refusal) = refuse_other_sites(version, &uri, &headers, &session.rules.hosts, advice) {
        return (StatusCode::FORBIDDEN, format!("{}\n", vocabulary::excerpt(&refusal.error))).into_response();
    }
    match serde_json::to_vec(&session.end(index)) {
        Ok(json) => ([(CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

impl Session {
    fn end(&self, index: usize) -> Option<SituationRecord> {
        let situation = self.suite.situations.get(index)?;
        let (runs, uncounted) = {
            let mut records = self.doors[index].records();
            let uncounted = std::mem::take(&mut records.uncounted);
            (records.take(End::Session), uncounted)
        };
        self.ended()[index].extend(runs.iter().cloned());
        let ambiguous = runs.iter().filter(|run| run.overlaps()).count();
        let mut observations = vec![None; self.suite.situations.len()];
        for (at, name) in self.suite.names().enumerate() {
            if situation.controls.iter().any(|control| control == name) {
                observations[at] = Some(observation(self.all(at)));
            }
        }
        observations[index] = Some(observation(runs));
        let Rules { operation, allowed, idle, .. } = &self.rules;
        let report = report(&self.suite, &observations, *operation, allowed, *idle);
        let judged = report.situations.iter().find(|judged| judged.name == situation.name)?;
        Some(SituationRecord {
            ambiguous_ops: ambiguous as u64,
            uncounted_attempts: uncounted,
            ..record(judged)
        })
    }

    fn all(&self, index: usize) -> Vec<ObservedRun> {
        let mut runs = self.ended()[index].clone();
        runs.extend(self.doors[index].records().clone().take(End::Session));
        runs
    }

    fn ended(&self) -> std::sync::MutexGuard<'_, Vec<Vec<ObservedRun>>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves out ops whose requests overlap, because it is not known which of them is a retry. If all overlap, none is left out.
fn observation(mut runs: Vec<ObservedRun>) -> Observation {
    if !runs.iter().all(ObservedRun::overlaps) {
        runs.retain(|run| !run.overlaps());
    }
    Observation { runs, has_keys: true }
}
