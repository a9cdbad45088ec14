//! Shards of clients: every run is added up out of its shares, and handed to the command as if it had been done by one program.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use results::{
    ClientShardError, Incomplete, ReadShard, RunResult, ShardError, ShardOf, ShardPlan, TaskRecord,
    merged_clients,
};

use super::args::MergeArgs;
use super::documents::{Shards, refusal};
use crate::commands::run;
use crate::exit::{Exit, Fatal};
use crate::shards::kept::Texts;
use crate::shards::merging::Merging;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;

pub(super) fn merge(args: &MergeArgs, documents: Shards<'_>) -> anyhow::Result<ExitCode> {
    let (plan, of, shares) = shares(documents)?;
    let (mut texts, mut places, mut began) = (Texts::default(), BTreeMap::new(), None);
    let mut missing_shards = BTreeSet::new();
    for (task, records) in shares {
        let whole = of_task(task, records, args.partial).map_err(|error| {
            let exit = match error {
                ClientShardError::NotConserved { .. } => Exit::NotConserved,
                _ => Exit::Usage,
            };
            Fatal::error(exit, error.to_string())
        })?;
        missing_shards.extend(whole.run.merged.iter().flat_map(|merged| merged.missing.iter().copied()));
        began = began.into_iter().chain(whole.run.started_at.clone()).min();
        // It is read again when it is its turn, as runs of shards are that were not added up.
        places.insert(task, texts.keep(&serde_json::to_string(&whole)?)?);
    }
    let missing_tasks = plan.tasks.saturating_sub(places.len() as u64);
    if missing_tasks > 0 && !args.partial || places.is_empty() {
        let words = format!(
            "{missing_tasks} of {} runs are in no shard: they were cut off before; `--partial` merges what is there",
            plan.tasks
        );
        return Err(Fatal::error(Exit::Usage, words));
    }
    let is_partial = missing_tasks > 0 || !missing_shards.is_empty();
    let incomplete = is_partial.then(|| Incomplete {
        shards: of,
        missing_shards: missing_shards.into_iter().collect(),
        tasks: plan.tasks,
        missing_tasks,
    });
    if let Some(Incomplete { missing_shards, .. }) = &incomplete {
        let lost: Vec<String> = missing_shards.iter().map(|index| format!("{index}/{of}")).collect();
        let words = format!(
            "incomplete: the clients of shard {} are missing, and {missing_tasks} of {} runs",
            if lost.is_empty() { "none".to_owned() } else { lost.join(", ") },
            plan.tasks
        );
        to_stderr(&format!("{}\n", wrapped(&words, "warning: ", "         ")));
    }
    let merging = Merging {
        plan,
        texts,
        places,
        began,
        incomplete,
        asked: args.asked(),
        checks: args.checks.clone(),
        output: args.report.clone(),
    };
    let code = run::merged(merging)?;
    Ok(if is_partial && code == ExitCode::SUCCESS { Exit::Unmet.into() } else { code })
}

/// Runs by their number, each with the shares of it that there are.
type Shares = BTreeMap<u64, Vec<(String, TaskRecord)>>;

/// What all shards were to do, how many there are to be, and what they did.
fn shares(documents: Shards<'_>) -> anyhow::Result<(ShardPlan, u32, Shares)> {
    let refuse = |error: ShardError| Err(Fatal::error(Exit::Usage, error.to_string()));
    let mut first: Option<(String, ShardPlan, u32)> = None;
    let mut shares = Shares::new();
    let mut files: BTreeMap<u32, String> = BTreeMap::new();
    for document in documents {
        let (file, text) = document?;
        let ReadShard { shard: ShardOf { index, of, .. }, plan, tasks, .. } =
            ReadShard::read(&text).map_err(|error| refusal(&file, &error))?;
        let ours = env!("CARGO_PKG_VERSION");
        if plan.version != ours {
            return refuse(ShardError::Version { file, theirs: plan.version, ours: ours.to_owned() });
        }
        let (named, there, count) = first.get_or_insert_with(|| (file.clone(), plan.clone(), of));
        let first = named.clone();
        if of != *count {
            return refuse(ShardError::Divided { file, first, ours: *count, theirs: of });
        }
        if let Some((what, ours, theirs)) = there.difference(&plan) {
            return refuse(ShardError::Foreign { file, first, what, ours, theirs });
        }
        if let Some(first) = files.insert(index, file.clone()) {
            return refuse(ShardError::Doubled { file, first, index, of });
        }
        for (task, text) in tasks {
            let record = TaskRecord::read(text).map_err(|error| refusal(&file, &error))?;
            shares.entry(task).or_default().push((file.clone(), record));
        }
    }
    match first {
        Some((_, plan, of)) => Ok((plan, of, shares)),
        None => refuse(ShardError::None),
    }
}

/// One run of all of its shares.
fn of_task(
    task: u64,
    shares: Vec<(String, TaskRecord)>,
    partial: bool,
) -> Result<TaskRecord, ClientShardError> {
    let answered = shares.iter().any(|(_, share)| share.answered);
    let bottleneck = shares.iter().any(|(_, share)| share.bottleneck);
    let compared = shares.iter().all(|(_, share)| share.server_compared);
    let generator_share = shares.iter().filter_map(|(_, share)| share.generator_share).reduce(f64::max);
    let runs: Vec<(String, RunResult)> = shares.into_iter().map(|(file, share)| (file, share.run)).collect();
    let run = merged_clients(runs, partial)?;
    let server_compared = compared && run.server.is_some();
    Ok(TaskRecord { task, server_compared, generator_share, answered, bottleneck, run })
}
