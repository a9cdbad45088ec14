//! Document of one shard. The shard's runs are executed, and each run is written to the document when it ends.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use experiments::runs::driver::{Driver, Outcome, Tasks};
use experiments::runs::shard::Shard;
use results::{RunResult, SchemaVersion, ShardKind, ShardOf, ShardPlan, TaskShard};

use super::watching::Watching;
use crate::args::ScreenArgs;
use crate::exit::{Exit, Fatal};
use crate::files::output::Output;
use crate::files::streamed::Streamed;
use crate::runner::interrupt::Interrupt;
use crate::screen::watch::Watch;
use crate::text::causes::unanswered;
use crate::text::figures::{counted, thousands};
use crate::text::progress::Progress;
use crate::text::stderr::to_stderr;

const END: &str = "]}";

pub(crate) struct OfShard<'p, 'a> {
    pub(crate) shard: Shard,
    pub(crate) plan: &'p ShardPlan,
    /// All runs of the command, including those of other shards.
    pub(crate) tasks: &'p Tasks<'a>,
    /// Number of the first run that is written without time series and latency curves. Merged documents also omit them from this run on.
    pub(crate) courses_before: u64,
    pub(crate) output: Output,
    pub(crate) screen: ScreenArgs,
    pub(crate) quiet: bool,
}

impl OfShard<'_, '_> {
    /// Executes the runs of the shard and writes them. Missed expectations are not reported here, because they are judged for all shards
    /// together, when the shards are merged.
    ///
    /// # Errors
    /// Fails if the first run fails or its counts do not match, or if the document cannot be written. If a later run fails, its error is
    /// reported, and the runs before it are still written.
    pub(crate) fn run(self, driver: &dyn Driver, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
        let Self { shard, plan, tasks: all, courses_before, output, screen, quiet } = self;
        let (tasks, numbers) = shard.tasks(all);
        let watcher = Watching {
            mode: Watch::wanted(quiet, screen, output.is_stdout()),
            interrupt,
            tasks: &numbers,
            courses_before,
            started: Instant::now(),
            progress: Mutex::new((Progress::new(!quiet), 0)),
        };
        let mut file = Streamed::begin(&output)?;
        let head = head(shard, plan)?;
        let mut written = file.write_all(head.as_bytes());
        let (mut done, mut answered, mut silent) = (0, false, None);
        let mut take = |number: usize, Outcome { finished, texts, .. }: Outcome| -> anyhow::Result<()> {
            finished.sound(tasks.task(number).seed)?;
            if finished.result.interrupted.is_some() {
                return Ok(());
            }
            answered |= finished.answered;
            if !finished.answered && silent.is_none() {
                silent = Some(unanswered(&finished));
            }
            for text in texts {
                let between: &[u8] = if done > 0 { b",\n" } else { b"\n" };
                written = std::mem::replace(&mut written, Ok(()))
                    .and_then(|()| file.write_all(between))
                    .and_then(|()| file.write_all(&text));
            }
            done += 1;
            Ok(())
        };
        let result = driver.drive(&tasks, interrupt, &watcher, &mut take);
        drop(watcher);
        let failed = match result {
            Err(error) if done == 0 => return Err(error),
            result => result.err().map(|error| crate::exit::report(&error)),
        };
        // If the command was interrupted before its first run, no document is written and no existing file is overwritten.
        if done > 0 || interrupt.exit().is_none() {
            let ended =
                written.and_then(|()| file.write_all(END.as_bytes())).and_then(|()| file.write_all(b"\n"));
            Streamed::finish(ended.map(|()| file), &output)?;
        }
        if !quiet {
            let (of, shards) = (counted(tasks.count() as u64, "run"), shard.of());
            let all = thousands(all.count() as u64);
            let done = thousands(done);
            to_stderr(&format!(
                "shard {shard}: {done} of its {of} done, of {all} in all shards; `loadgen merge` makes a result of all {shards}\n"
            ));
        }
        if let Some(code) = failed {
            return Ok(code);
        }
        if let Some(words) = silent.filter(|_| !answered) {
            crate::exit::report(&Fatal::error(Exit::Unreachable, words));
            return Ok(interrupt.exit().unwrap_or(Exit::Unreachable).into());
        }
        Ok(interrupt.exit().map_or(ExitCode::SUCCESS, ExitCode::from))
    }
}

fn head(shard: Shard, plan: &ShardPlan) -> anyhow::Result<String> {
    let document = TaskShard::<RunResult> {
        schema_version: SchemaVersion::default(),
        shard: ShardOf { kind: ShardKind::Tasks, index: shard.index(), of: shard.of() },
        plan: plan.clone(),
        tasks: Vec::new(),
    };
    let mut text = serde_json::to_string(&document)?;
    text.truncate(text.len() - END.len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use experiments::runs::driver::{Task, Watcher};
    use experiments::runs::stop::Stop;
    use experiments::runs::virtual_time::VirtualTime;
    use experiments::servers::server_under_test::ServerUnderTest;
    use experiments::{Error, Experiment};
    use loadgen_core::{RunConfig, Workload};
    use results::{Mode, ShardedCommand};

    use super::*;
    use crate::shards::merging::Merging;

    /// Driver that fails after this many runs.
    struct Breaks {
        after: usize,
    }

    impl Driver for Breaks {
        fn drive(
            &self,
            tasks: &Tasks<'_>,
            stop: &dyn Stop,
            watcher: &dyn Watcher,
            take: &mut dyn FnMut(usize, Outcome) -> anyhow::Result<()>,
        ) -> anyhow::Result<()> {
            let begun = Tasks::new(self.after, |number| tasks.task(number));
            VirtualTime::on_threads(Some(1)).drive(&begun, stop, watcher, take)?;
            Err(Error::new(experiments::ErrorKind::Unreachable, "the server is gone").into())
        }
    }

    #[test]
    fn a_failed_run_costs_no_finished_run() {
        let workload = Workload { ops: Some(5), ..Workload::default() };
        let experiment =
            Experiment::of_run("none".parse().unwrap(), RunConfig { workload, ..RunConfig::default() });
        let server_under_test = ServerUnderTest::Own(Box::default());
        let tasks = Tasks::new(3, |number| Task {
            experiment: &experiment,
            server_under_test: &server_under_test,
            seed: 1 + number as u64,
            runs_of_file: 3,
        });
        let plan = ShardPlan {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: ShardedCommand::Run,
            mode: Mode::Simulated,
            command_line: Vec::new(),
            tasks: 3,
            strategies: vec!["none".to_owned()],
            by: None,
            sensitivity: false,
            axes: Vec::new(),
            points: Vec::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shard.json");
        let written = |after| {
            let of_shard = OfShard {
                shard: "0/1".parse().unwrap(),
                plan: &plan,
                tasks: &tasks,
                courses_before: u64::MAX,
                output: Output::prepare(&path, "--json").unwrap(),
                screen: Merging::screen(),
                quiet: true,
            };
            of_shard.run(&Breaks { after }, &Interrupt::default())
        };
        assert!(written(0).is_err() && !path.exists());
        assert_eq!(written(2).unwrap(), Exit::Unreachable.into());
        let text = std::fs::read_to_string(&path).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let tasks = document["tasks"].as_array().unwrap();
        assert_eq!(tasks.iter().map(|task| &task["task"]).collect::<Vec<_>>(), [0, 1]);
    }
}
