//! Merge of client shards, each of which executed some of the clients of every run. Each run is assembled from its parts in all shards. The
//! command then continues as if one program had executed all clients of the run.

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
use crate::text::figures::counted;
use crate::text::shards::named;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;

pub(super) fn merge(args: &MergeArgs, documents: Shards<'_>) -> anyhow::Result<ExitCode> {
    let (plan, of, shares) = shares(documents)?;
    let (mut texts, mut places, mut began) = (Texts::default(), BTreeMap::new(), None);
    let mut lost = Lost::default();
    for (task, records) in shares {
        let whole = of_task(task, records).map_err(|error| {
            let exit = match error {
                ClientShardError::NotConserved { .. } => Exit::NotConserved,
                _ => Exit::Usage,
            };
            Fatal::error(exit, error.to_string())
        })?;
        lost.note(whole.run.merged.as_deref().map_or(&[], |merged| &merged.missing));
        began = began.into_iter().chain(whole.run.started_at.clone()).min();
        // The merged run is kept as JSON text and parsed again when it is needed, so that few runs are in memory.
        places.insert(task, texts.keep(&serde_json::to_string(&whole)?)?);
    }
    lost.runs = plan.tasks.saturating_sub(places.len() as u64);
    if places.is_empty() {
        return Err(Fatal::error(Exit::Usage, "these shards contain no run, so there is nothing to merge"));
    }
    let lost = lost.is_any().then_some(lost);
    if let Some(lost) = &lost {
        let words = lost.words(of, plan.tasks);
        if !args.partial {
            return Err(Fatal::error(
                Exit::Usage,
                format!("{words}; `--partial` merges the shards that exist"),
            ));
        }
        to_stderr(&format!("{}\n", wrapped(&format!("incomplete: {words}"), "warning: ", "         ")));
    }
    let is_partial = lost.is_some();
    let incomplete = lost.map(|lost| Incomplete {
        shards: of,
        missing_shards: lost.shards.into_iter().collect(),
        tasks: plan.tasks,
        missing_tasks: lost.runs,
    });
    let merging = Merging {
        plan,
        texts,
        places,
        began,
        incomplete,
        asked: args.asked(),
        checks: args.checks.clone(),
        output: args.report.clone(),
        explain: args.explain,
    };
    let code = run::merged(merging)?;
    Ok(if is_partial && code == ExitCode::SUCCESS { Exit::Unmet.into() } else { code })
}

#[derive(Default)]
struct Lost {
    shards: BTreeSet<u32>,
    /// Number of runs that lack the results of some clients.
    parted_runs: u64,
    runs: u64,
}

impl Lost {
    fn note(&mut self, shards: &[u32]) {
        self.shards.extend(shards);
        self.parted_runs += u64::from(!shards.is_empty());
    }

    fn is_any(&self) -> bool {
        self.runs > 0 || !self.shards.is_empty()
    }

    fn words(&self, of: u32, runs: u64) -> String {
        let mut words = Vec::new();
        if !self.shards.is_empty() {
            let shards = named(&self.shards.iter().copied().collect::<Vec<_>>(), of);
            let place =
                if runs > 1 { format!(" in {} of {runs} runs", self.parted_runs) } else { String::new() };
            let noun = if self.shards.len() == 1 { "shard" } else { "shards" };
            words.push(format!("the clients of {noun} {shards} are missing{place}"));
        }
        if self.runs > 0 {
            let verb = if self.runs == 1 { "is" } else { "are" };
            words.push(format!("{} of {} {verb} in no shard", self.runs, counted(runs, "run")));
        }
        words.join(", and ")
    }
}

type Shares = BTreeMap<u64, Vec<(String, TaskRecord)>>;

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

fn of_task(task: u64, shares: Vec<(String, TaskRecord)>) -> Result<TaskRecord, ClientShardError> {
    let answered = shares.iter().any(|(_, share)| share.answered);
    let last_arrived = shares.iter().find_map(|(_, share)| share.last_arrived.clone());
    let bottleneck = shares.iter().any(|(_, share)| share.bottleneck);
    let compared = shares.iter().all(|(_, share)| share.server_compared);
    let generator_share = shares.iter().filter_map(|(_, share)| share.generator_share).reduce(f64::max);
    let runs: Vec<(String, RunResult)> = shares.into_iter().map(|(file, share)| (file, share.run)).collect();
    let run = merged_clients(runs)?;
    let server_compared = compared
        && (run.server.is_some() || run.merged.as_ref().is_some_and(|merged| !merged.rows.is_empty()));
    Ok(TaskRecord { task, server_compared, generator_share, answered, last_arrived, bottleneck, run })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_and_runs_are_described() {
        let mut lost = Lost::default();
        lost.note(&[]);
        assert!(!lost.is_any());
        lost.note(&[1, 3]);
        assert_eq!(lost.words(4, 1), "the clients of shards 1/4, 3/4 are missing");
        assert_eq!(lost.words(4, 5), "the clients of shards 1/4, 3/4 are missing in 1 of 5 runs");
        lost.runs = 1;
        let words =
            "the clients of shards 1/4, 3/4 are missing in 1 of 5 runs, and 1 of 5 runs is in no shard";
        assert_eq!(lost.words(4, 5), words);
        assert_eq!(Lost { runs: 2, ..Lost::default() }.words(4, 5), "2 of 5 runs are in no shard");
        let many = Lost { shards: (0..12).collect(), parted_runs: 1, runs: 0 };
        assert!(many.words(20, 1).ends_with("8/20, 9/20, 2 more are missing"), "{}", many.words(20, 1));
    }
}
