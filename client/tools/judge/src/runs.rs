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
use crate::last_error::last_error;
use crate::observation::{End, ObservedRun, seconds};
use crate::plan::{Planned, Runner};

/// Maximum time without a request of the judged call, while other calls go on.
const MAX_OTHER_CALLS: Duration = Duration::from_mins(1);

/// Address space of a run of the command, which has a thread for itself, for its server, and for each of two outputs. The C library reserves
/// 64 MiB for a thread.
const JOB_BYTES: usize = 256 << 20;

/// Part of the command line and of variables that is replaced by the URL of the server.
const URL: &str = "{url}";

const TIME_ZONE: &str = "TZ";

pub(super) struct Client<'a> {
    pub(super) args: &'a JudgeArgs,
    pub(super) calls: Arc<Calls>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) live: Live,
    /// Output of the command's last run in each situation, by its name.
    pub(super) outputs: BTreeMap<String, String>,
}

impl Runner for Client<'_> {
    fn is_real_time(&self) -> bool {
        true
    }

    fn has_time_zones(&self) -> bool {
        !self.args.env.iter().any(|variable| variable.name == TIME_ZONE)
    }

    /// Runs the command, several times at once or one by one. Runs that were interrupted have no result.
    ///
    /// # Errors
    /// Fails if the command cannot be started, or a server cannot be started.
    fn run(&mut self, planned: &[Planned<'_>], one_by_one: bool) -> anyhow::Result<Vec<Option<ObservedRun>>> {
        // Situations with a single run begin first, because they take longest: they advise waits, or never answer.
        let mut order: Vec<usize> = (0..planned.len()).collect();
        order.sort_by_key(|index| planned[*index].situation.runs);
        let (all, queue) = (order.len(), Mutex::new(VecDeque::from(order)));
        let done: Mutex<BTreeMap<usize, (ObservedRun, String)>> = Mutex::default();
        let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let mut live = std::mem::replace(&mut self.live, Live::new(false));
        let this = &*self;
        let is_over = || lock(&failed).is_some() || this.interrupt.received() > 0;
        let work = || {
            while let Some(next) = (!is_over()).then(|| lock(&queue).pop_front()).flatten() {
                match this.run_once(&planned[next], &is_over) {
                    Ok(run) => {
                        lock(&done).insert(next, run);
                    }
                    Err(error) => {
                        lock(&failed).get_or_insert(error);
                    }
                }
            }
        };
        let jobs = if one_by_one { 1 } else { usize::from(self.args.jobs) };
        let jobs = threads_with_room(jobs.min(all), JOB_BYTES);
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
        self.live = live;
        if let Some(error) = lock(&failed).take() {
            return Err(error);
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut runs = Vec::with_capacity(all);
        for (index, planned) in planned.iter().enumerate() {
            let (run, output) = done.remove(&index).unzip();
            runs.push(run.filter(|run: &ObservedRun| run.end != End::Interrupted));
            if let Some(output) = output {
                self.outputs.insert(planned.situation.name.clone(), output);
            }
        }
        Ok(runs)
    }
}

impl Client<'_> {
    fn run_once(
        &self,
        planned: &Planned<'_>,
        is_over: &dyn Fn() -> bool,
    ) -> anyhow::Result<(ObservedRun, String)> {
        let door = Door::new(&self.calls, planned.situation, planned.waits_for_advice)?;
        let server = door.start(|router| router)?;
        let url = format!("http://{}", server.address());
        let process = Process::start(self.command(&url, planned)).map_err(|error| self.unstartable(error))?;
        let ended = loop {
            if process.has_ended() {
                break None;
            }
            // The records are copied before the command is ended, because its end disconnects it from the server.
            if let Some(end) = self.reason_to_end(&door, planned, is_over) {
                break Some(observed(&door, end));
            }
            std::thread::sleep(POLL);
        };
        let (has_ended, end) = (ended.is_none(), door.elapsed());
        let Ended { status, output, last_errors } = process.end();
        let tls_seen = server.tls_seen();
        drop(server);
        let run = ObservedRun {
            exit_code: status.filter(|_| has_ended).and_then(|status| status.code()),
            exited_s: has_ended.then(|| seconds(end)),
            time_zone: planned.time_zone.map(str::to_owned),
            ended: end,
            waited_for_advice: planned.waits_for_advice,
            has_longer_advice: planned.has_longer_advice,
            tls_seen,
            last_error: last_error(&last_errors).to_owned(),
            ..ended.unwrap_or_else(|| observed(&door, End::Exited))
        };
        Ok((run, output))
    }

    fn reason_to_end(&self, door: &Door, planned: &Planned<'_>, is_over: &dyn Fn() -> bool) -> Option<End> {
        let records = door.records();
        let limit = if records.has_requests { self.args.idle_timeout } else { self.args.start_timeout };
        let quiet = |since: Duration| door.elapsed().saturating_sub(since);
        match () {
            () if is_over() => Some(End::Interrupted),
            () if records.received() >= planned.situation.max_attempts as u64 => Some(End::TooManyAttempts),
            () if quiet(records.quiet_since) > limit => Some(End::Idle),
            () if quiet(records.judged_quiet_since) > limit.max(MAX_OTHER_CALLS) => Some(End::Idle),
            () => None,
        }
    }

    fn command(&self, url: &str, planned: &Planned<'_>) -> Command {
        let filled = |text: &String| text.replace(URL, url);
        let mut words = self.args.command.iter().map(filled);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env("TAILBACK_URL", url).env("TAILBACK_SITUATION", &planned.situation.name);
        command.env(SEED, planned.number.to_string());
        if let Some(zone) = planned.time_zone {
            command.env(TIME_ZONE, zone);
        }
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
