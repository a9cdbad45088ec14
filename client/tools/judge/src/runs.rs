//! Runs of the command: one server and one run for each situation, several at the same time.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mockserver::threads_with_room;
use shell::args::SEED;
use shell::exit::{Exit, Fatal};
use shell::runner::interrupt::Interrupt;
use shell::runner::process::{Ended, POLL, Process};
use shell::text::progress::Live;

use crate::args::{JudgeArgs, Variable};
use crate::door::{Calls, Door, lock};
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
    pub(super) args: &'a JudgeArgs,
    pub(super) calls: Arc<Calls>,
}

/// Observations of a suite, situation by situation. They are `None` for situations that did not complete.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) observations: Vec<Option<Observation>>,
    /// Output of the command's last run in each situation; empty without a command.
    pub(super) outputs: Vec<String>,
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
        let done: Mutex<BTreeMap<Planned, (ObservedRun, String)>> = Mutex::default();
        let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let is_over = || lock(&failed).is_some() || interrupt.received() > 0;
        let work = || {
            while let Some(next) = (!is_over()).then(|| lock(&queue).pop_front()).flatten() {
                match self.run_once(&suite.situations[next.0], next.1, &is_over) {
                    Ok(run) => {
                        lock(&done).insert(next, run);
                    }
                    Err(error) => {
                        lock(&failed).get_or_insert(error);
                    }
                }
            }
        };
        let jobs = threads_with_room(usize::from(self.args.jobs).min(all), JOB_BYTES);
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
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut observed = Observed::default();
        for (index, situation) in suite.situations.iter().enumerate() {
            let (runs, mut outputs): (Vec<ObservedRun>, Vec<String>) =
                (0..situation.runs).filter_map(|run| done.remove(&(index, run))).unzip();
            let is_complete =
                runs.len() == situation.runs && runs.iter().all(|run| run.end != End::Interrupted);
            observed.observations.push(is_complete.then_some(Observation { runs, has_keys: true }));
            observed.outputs.push(outputs.pop().unwrap_or_default());
        }
        Ok(observed)
    }

    fn run_once(
        &self,
        situation: &Situation,
        run: usize,
        is_over: &dyn Fn() -> bool,
    ) -> anyhow::Result<(ObservedRun, String)> {
        let door = Door::new(&self.calls, situation)?;
        let server = door.start(|router| router)?;
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
        let run = ended.unwrap_or_else(|| ObservedRun {
            exit_code: status.and_then(|status| status.code()),
            ..observed(&door, End::Exited)
        });
        Ok((run, output))
    }

    fn reason_to_end(&self, door: &Door, is_over: &dyn Fn() -> bool) -> Option<End> {
        let records = door.records();
        let limit = if records.has_requests { self.args.idle_timeout } else { FIRST_REQUEST };
        let quiet = |since: Duration| door.elapsed().saturating_sub(since);
        match () {
            () if is_over() => Some(End::Interrupted),
            () if records.received() >= MAX_ATTEMPTS as u64 => Some(End::TooManyAttempts),
            () if quiet(records.quiet_since) > limit => Some(End::Idle),
            () if quiet(records.judged_quiet_since) > limit.max(MAX_OTHER_CALLS) => Some(End::Idle),
            () => None,
        }
    }

    fn command(&self, url: &str, situation: &str, run: usize) -> Command {
        let filled = |text: &String| text.replace(URL, url);
        let mut words = self.args.command.iter().map(filled);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env("TAILBACK_URL", url).env("TAILBACK_SITUATION", situation);
        command.env(SEED, (run + 1).to_string());
        for name in ["NO_PROXY", "no_proxy"] {
            let others = std::env::var(name).unwrap_or_default();
            let separator = if others.is_empty() { "" } else { "," };
            command.env(name, format!("{others}{separator}127.0.0.1,localhost"));
        }
        for Variable { name, value } in &self.args.env {
            command.env(name, filled(value));
        }
        command
    }

    fn unstartable(&self, error: io::Error) -> anyhow::Error {
        let name = self.args.command.first().map(String::as_str).unwrap_or_default();
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "; is it installed, and in PATH?",
            io::ErrorKind::PermissionDenied => "; is it executable?",
            _ => "",
        };
        Fatal::because(Exit::Usage, format!("the command `{name}` cannot be started{advice}"), error)
    }
}

fn observed(door: &Door, end: End) -> ObservedRun {
    let mut records = door.records();
    let without_attempts = records.without_attempts(end);
    records.take(end).into_iter().next().unwrap_or(without_attempts)
}
