//! Runs of the command: one server and one run for each situation, several at the same time.

use std::collections::VecDeque;
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use mockserver::core::{Config, Script};
use mockserver::{Embedded, threads_with_room};
use shell::args::SEED;
use shell::exit::{Exit, Fatal};
use shell::runner::interrupt::Interrupt;
use shell::runner::process::{Ended, POLL, Process};
use shell::text::progress::Live;
use vocabulary::{Distribution, TimeScale};

use crate::args::Variable;
use crate::door::{Calls, Door};
use crate::observation::{End, MAX_ATTEMPTS, Observation, ObservedRun};
use crate::suite::{Situation, Suite};

/// Maximum time before the first request, because programs may take long to start.
const FIRST_REQUEST: Duration = Duration::from_mins(1);

/// Maximum time without a request of the judged call, while other calls go on.
const MAX_OTHER_CALLS: Duration = Duration::from_mins(1);

/// Address space of a run of the command, which has a thread for itself, for its server, and for each of two outputs. The C library reserves
/// 64 MiB for a thread.
const JOB_BYTES: usize = 256 << 20;

/// Part of the command line and of variables that is replaced by the URL of the server.
const URL: &str = "{url}";

#[derive(Debug)]
pub(super) struct Client<'a> {
    pub(super) command: &'a [String],
    pub(super) env: &'a [Variable],
    pub(super) calls: Arc<Calls>,
    pub(super) idle: Duration,
    pub(super) jobs: u16,
}

/// Observations of a suite, situation by situation. They are `None` for situations that did not complete.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) observations: Vec<Option<Observation>>,
    /// Output of the last run of each situation.
    pub(super) outputs: Vec<String>,
}

#[derive(Debug)]
struct OneRun {
    run: ObservedRun,
    output: String,
}

/// Run that is planned: the index of its situation, and its index among the runs of this situation.
type Planned = (usize, usize);

impl Client<'_> {
    /// Runs the command in all situations of the suite.
    ///
    /// # Errors
    /// Fails if the command cannot be started, or a server cannot be started.
    pub(super) fn observe(
        &self,
        suite: &Suite,
        interrupt: &Interrupt,
        live: &mut Live,
    ) -> anyhow::Result<Observed> {
        let mut planned: Vec<Planned> = Vec::new();
        for (index, situation) in suite.situations.iter().enumerate() {
            planned.extend((0..situation.runs).map(|run| (index, run)));
        }
        // Situations with a single run begin first, because they take longest: they advise waits, or never answer.
        planned.sort_by_key(|(index, _)| suite.situations[*index].runs);
        let (all, queue) = (planned.len(), Mutex::new(VecDeque::from(planned)));
        let done: Mutex<Vec<(Planned, OneRun)>> = Mutex::new(Vec::new());
        let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let is_over = || lock(&failed).is_some() || interrupt.received() > 0;
        let work = || {
            while let Some(next) = (!is_over()).then(|| lock(&queue).pop_front()).flatten() {
                match self.run_once(&suite.situations[next.0], next.1, &is_over) {
                    Ok(run) => lock(&done).push((next, run)),
                    Err(error) => {
                        lock(&failed).get_or_insert(error);
                    }
                }
            }
        };
        let jobs = threads_with_room(usize::from(self.jobs).min(all), JOB_BYTES);
        std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let workers: Vec<_> = (0..jobs).map_while(start).collect();
            // Without any other thread, this one runs the command.
            if workers.is_empty() {
                work();
            }
            while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                live.line(|| format!("{} of {all} runs of the command are done", lock(&done).len()));
                std::thread::sleep(POLL);
            }
        });
        if let Some(error) = lock(&failed).take() {
            return Err(error);
        }
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(sorted(suite, done))
    }

    fn run_once(
        &self,
        situation: &Situation,
        run: usize,
        is_over: &dyn Fn() -> bool,
    ) -> anyhow::Result<OneRun> {
        let script = situation.script(&self.calls.success)?;
        let door = Door::new(self.calls.clone(), script.clone(), situation.waits_for_advice);
        let server = start(&script, |router| door.around(router))?;
        let url = format!("http://{}", server.address());
        let process = Process::start(self.command(&url, &situation.name, run))
            .map_err(|error| self.unstartable(error))?;
        let ended = loop {
            if process.has_ended() {
                break None;
            }
            // The records are copied before the command is ended, because its end disconnects it from the server.
            if let Some(end) = self.reason_to_end(&door, is_over) {
                break Some(observed(&door, end));
            }
            std::thread::sleep(POLL);
        };
        let Ended { status, output } = process.end();
        drop(server);
        let run =
            ended.unwrap_or_else(|| observed(&door, End::Exited(status.and_then(|status| status.code()))));
        Ok(OneRun { run, output })
    }

    fn reason_to_end(&self, door: &Door, is_over: &dyn Fn() -> bool) -> Option<End> {
        let records = door.records();
        let limit = if records.has_requests { self.idle } else { FIRST_REQUEST };
        let quiet = |since: Duration| door.elapsed().saturating_sub(since);
        match () {
            () if is_over() => Some(End::Interrupted),
            () if records.received() >= MAX_ATTEMPTS as u64 => Some(End::TooMany),
            () if quiet(records.quiet_since) > limit => Some(End::Idle),
            () if quiet(records.judged_quiet_since) > limit.max(MAX_OTHER_CALLS) => Some(End::Idle),
            () => None,
        }
    }

    fn command(&self, url: &str, situation: &str, run: usize) -> Command {
        let filled = |text: &String| text.replace(URL, url);
        let mut words = self.command.iter().map(filled);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env("TAILBACK_URL", url).env("TAILBACK_SITUATION", situation);
        command.env(SEED, (run + 1).to_string());
        for name in ["NO_PROXY", "no_proxy"] {
            let others = std::env::var(name).unwrap_or_default();
            let separator = if others.is_empty() { "" } else { "," };
            command.env(name, format!("{others}{separator}127.0.0.1,localhost"));
        }
        for Variable { name, value } in self.env {
            command.env(name, filled(value));
        }
        command
    }

    fn unstartable(&self, error: io::Error) -> anyhow::Error {
        let name = self.command.first().map(String::as_str).unwrap_or_default();
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "; is it installed, and in PATH?",
            io::ErrorKind::PermissionDenied => "; is it executable?",
            _ => "",
        };
        Fatal::because(Exit::Usage, format!("the command `{name}` cannot be started{advice}"), error)
    }
}

pub(super) fn start(script: &Script, around: impl FnOnce(Router) -> Router) -> anyhow::Result<Embedded> {
    let policy = format!("script:steps={script}");
    let policy =
        policy.parse().map_err(|error| anyhow::anyhow!("the script of a situation is invalid: {error}"))?;
    let config = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
    Embedded::start_layered(config, TimeScale::default(), around).map_err(|error| {
        Fatal::because(Exit::Unreachable, "the server of a situation cannot be started", error)
    })
}

fn observed(door: &Door, end: End) -> ObservedRun {
    let mut records = door.records();
    let without_attempts = records.without_attempts(end);
    records.take(end).into_iter().next().unwrap_or(without_attempts)
}

fn sorted(suite: &Suite, mut done: Vec<(Planned, OneRun)>) -> Observed {
    done.sort_by_key(|(planned, _)| *planned);
    let mut observed = Observed { observations: Vec::new(), outputs: Vec::new() };
    let mut done = done.into_iter().peekable();
    for (index, situation) in suite.situations.iter().enumerate() {
        let (mut runs, mut output) = (Vec::new(), String::new());
        while let Some((_, one)) = done.next_if(|((situation, _), _)| *situation == index) {
            runs.push(one.run);
            output = one.output;
        }
        let is_complete =
            runs.len() == situation.runs && runs.iter().all(|run: &ObservedRun| run.end != End::Interrupted);
        observed.observations.push(is_complete.then_some(Observation { runs, has_keys: true }));
        observed.outputs.push(output);
    }
    observed
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
