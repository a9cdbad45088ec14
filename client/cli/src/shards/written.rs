//! The document of one shard: its runs are done, and written as they come.

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
use crate::interrupt::Interrupt;
use crate::screen::watch::Watch;
use crate::text::causes::unanswered;
use crate::text::figures::{counted, thousands};
use crate::text::progress::Progress;
use crate::text::stderr::to_stderr;

/// How a document ends whose tasks stand last.
const END: &str = "]}";

/// One shard to be done.
pub(crate) struct OfShard<'p, 'a> {
    pub(crate) shard: Shard,
    pub(crate) plan: &'p ShardPlan,
    /// Those of all shards.
    pub(crate) tasks: &'p Tasks<'a>,
    /// Tasks from this number on are written without courses and curves, which no merged document has.
    pub(crate) courses_before: u64,
    pub(crate) output: Output,
    pub(crate) screen: ScreenArgs,
    pub(crate) quiet: bool,
}

impl OfShard<'_, '_> {
    /// Does the runs and writes them. Whether they came to what was asked is judged of all shards together.
    ///
    /// # Errors
    /// When a run cannot be done, its counts do not add up, or the document cannot be written.
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
        let (mut done, mut silent) = (0, None);
        driver.drive(&tasks, interrupt, &watcher, &mut |number, Outcome { finished, texts, .. }| {
            finished.sound(tasks.task(number).seed)?;
            // What was cut off in the middle is no run.
            if finished.result.interrupted.is_some() {
                return Ok(());
            }
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
        })?;
        drop(watcher);
        // Of what was cut off before its first run nothing is kept, and nothing that was there is overwritten.
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
        if let Some(words) = silent {
            crate::exit::report(&Fatal::error(Exit::Unreachable, words));
            return Ok(interrupt.exit().unwrap_or(Exit::Unreachable).into());
        }
        Ok(interrupt.exit().map_or(ExitCode::SUCCESS, ExitCode::from))
    }
}

/// All of the document that stands before its tasks.
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
