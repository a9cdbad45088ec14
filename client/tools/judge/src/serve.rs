//! `--serve`: the servers of all situations for services and test suites, until a signal ends the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{StatusCode, Uri, Version};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use mockserver::{Embedded, refuse_other_sites};
use serde::Serialize;
use shell::files::output::to_stdout;
use shell::runner::interrupt::Interrupt;

use crate::args::JudgeArgs;
use crate::door::{Calls, Door, lock};
use crate::observation::{End, Observation, ObservedRun};
use crate::plan::Observed;
use crate::report::JudgedSituation;
use crate::suite::Suite;

const POLL: Duration = Duration::from_millis(20);

/// First line on stdout: the URL of each situation's server.
#[derive(Debug, Serialize)]
struct Situations<'a> {
    situations: BTreeMap<&'a str, String>,
}

#[derive(Debug)]
struct Session {
    suite: Suite,
    args: JudgeArgs,
    doors: Vec<Door>,
    /// Ops that were ended by a request to `/_judge/end`, situation by situation.
    ended: Mutex<Vec<Vec<ObservedRun>>>,
}

/// Serves all situations until a signal arrives. Returns all ops of the session.
pub(super) fn serve(
    suite: Suite,
    args: &JudgeArgs,
    calls: &Arc<Calls>,
    interrupt: &Interrupt,
) -> anyhow::Result<Observed> {
    let doors =
        suite.situations.iter().map(|situation| Door::new(calls, situation, situation.waits_for_advice));
    let doors: Vec<Door> = doors.collect::<anyhow::Result<_>>()?;
    let ended = Mutex::new(vec![Vec::new(); doors.len()]);
    let session = Arc::new(Session { suite: suite.clone(), args: args.clone(), doors, ended });
    let servers = session.doors.iter().enumerate().map(|(index, door)| {
        let end = post(end).with_state((session.clone(), index));
        door.start(|router| router.route("/_judge/end", end))
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
    let all = |(index, server): (usize, &Embedded)| {
        let mut runs = session.all(index);
        if runs.is_empty() && server.tls_seen() {
            runs.push(ObservedRun { tls_seen: true, ..ObservedRun::default() });
        }
        Some(observation(runs))
    };
    let observations = servers.iter().enumerate().map(all).collect();
    Ok(Observed { suite, observations })
}

/// Ends the ops of a situation and returns the verdict on them. Later requests are new ops. Web pages of other servers must not end ops.
async fn end(
    State((session, index)): State<(Arc<Session>, usize)>,
    version: Version,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let advice = "name it with `--allow-host`";
    if let Err(refusal) = refuse_other_sites(version, &uri, &headers, &session.args.allow_host, advice) {
        return (StatusCode::FORBIDDEN, format!("{}\n", vocabulary::excerpt(&refusal.error))).into_response();
    }
    match serde_json::to_vec(&session.end(index)) {
        Ok(json) => ([(CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

impl Session {
    fn end(&self, index: usize) -> Option<JudgedSituation> {
        let situation = self.suite.situations.get(index)?;
        let (runs, uncounted) = {
            let mut records = self.doors[index].records();
            let uncounted = std::mem::take(&mut records.uncounted);
            (records.take(End::Session), uncounted)
        };
        lock(&self.ended)[index].extend(runs.iter().cloned());
        let ambiguous = runs.iter().filter(|run| run.overlaps()).count();
        let of_control = |(at, name): (usize, &str)| {
            let is_control = situation.controls.iter().any(|control| control == name);
            is_control.then(|| observation(self.all(at)))
        };
        let mut observations: Vec<_> = self.suite.names().enumerate().map(of_control).collect();
        observations[index] = Some(observation(runs));
        let report = self.args.judge().report(&self.suite, &observations);
        let judged = report.situations.into_iter().find(|judged| judged.name == situation.name)?;
        Some(JudgedSituation { ambiguous_ops: ambiguous as u64, uncounted_attempts: uncounted, ..judged })
    }

    fn all(&self, index: usize) -> Vec<ObservedRun> {
        let mut runs = lock(&self.ended)[index].clone();
        runs.extend(self.doors[index].records().clone().take(End::Session));
        runs
    }
}

/// Leaves out ops whose requests overlap, because it is not known which of them is a retry. If all overlap, none is left out.
fn observation(mut runs: Vec<ObservedRun>) -> Observation {
    if !runs.iter().all(ObservedRun::overlaps) {
        runs.retain(|run| !run.overlaps());
    }
    Observation { runs, has_keys: true }
}
