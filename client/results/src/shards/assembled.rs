//! Merging of shards that belong to the same plan. A shard is a part of the work of one command.

use std::collections::BTreeMap;

use super::document::ReadShard;
use super::incomplete::Incomplete;
use super::plan::ShardPlan;

/// Merged shards. The type `T` is the data that the caller keeps of each run.
#[derive(Clone, Debug)]
pub struct Assembled<T> {
    pub plan: ShardPlan,
    pub of: u32,
    /// Indexes of missing shards; at most 10 000 of them are listed.
    pub missing_shards: Vec<u32>,
    /// Files of shards that lack some of their runs, each with the number of missing runs.
    pub cut_off: Vec<(String, u64)>,
    pub tasks: BTreeMap<u64, T>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    #[error(
        "`{file}` was written by loadgen {theirs}, and this is {ours}; merge shards with the version that wrote them"
    )]
    Version { file: String, theirs: String, ours: String },
    #[error(
        "`{file}` and `{first}` are shards of different runs: {what} is `{theirs}` in the first and `{ours}` in the second"
    )]
    Foreign { file: String, first: String, what: &'static str, ours: String, theirs: String },
    #[error("`{file}` is one of {theirs} shards, and `{first}` one of {ours}")]
    Divided { file: String, first: String, ours: u32, theirs: u32 },
    #[error("`{file}` and `{first}` are both shard {index} of {of}; give each once")]
    Doubled { file: String, first: String, index: u32, of: u32 },
    #[error("no shard is given")]
    None,
}

#[derive(Clone, Debug)]
pub struct Assembly<T> {
    version: &'static str,
    /// Result of merging all shards read so far, with the file name of the first shard. `None` before the first shard.
    whole: Option<(String, Assembled<T>)>,
    files: BTreeMap<u32, String>,
}

impl<T> Assembly<T> {
    pub fn new(version: &'static str) -> Self {
        Self { version, whole: None, files: BTreeMap::new() }
    }

    /// Adds the shard of a file. `keep` is called with the text of each run, and its return value is kept.
    ///
    /// # Errors
    /// Fails if the shard cannot be merged with the earlier shards, or if `keep` fails.
    pub fn take<E: From<ShardError>>(
        &mut self,
        file: String,
        ReadShard { shard, plan, tasks, .. }: ReadShard<'_>,
        mut keep: impl FnMut(&str) -> Result<T, E>,
    ) -> Result<(), E> {
        if plan.version != self.version {
            let (theirs, ours) = (plan.version, self.version.to_owned());
            return Err(ShardError::Version { file, theirs, ours }.into());
        }
        let (first, whole) = self.whole.get_or_insert_with(|| {
            let none = Assembled {
                plan: plan.clone(),
                of: shard.of,
                missing_shards: Vec::new(),
                cut_off: Vec::new(),
                tasks: BTreeMap::new(),
            };
            (file.clone(), none)
        });
        let first = first.clone();
        if let Some((what, ours, theirs)) = whole.plan.difference(&plan) {
            let [ours, theirs] = apart(&ours, &theirs);
            return Err(ShardError::Foreign { file, first, what, ours, theirs }.into());
        }
        if whole.of != shard.of {
            return Err(ShardError::Divided { file, first, ours: whole.of, theirs: shard.of }.into());
        }
        if let Some(first) = self.files.get(&shard.index).cloned() {
            return Err(ShardError::Doubled { file, first, index: shard.index, of: shard.of }.into());
        }
        let lacks = share(plan.tasks, shard.index, shard.of).saturating_sub(tasks.len() as u64);
        if lacks > 0 {
            whole.cut_off.push((file.clone(), lacks));
        }
        for (number, text) in tasks {
            whole.tasks.insert(number, keep(text)?);
        }
        self.files.insert(shard.index, file);
        Ok(())
    }

    pub fn whole(self) -> Result<Assembled<T>, ShardError> {
        let Some((_, mut whole)) = self.whole else { return Err(ShardError::None) };
        let missing = (0..whole.of).filter(|index| !self.files.contains_key(index));
        whole.missing_shards = missing.take(MAX_NAMED).collect();
        Ok(whole)
    }
}

impl<T> Assembled<T> {
    pub fn incomplete(&self) -> Option<Incomplete> {
        let missing_tasks = self.plan.tasks.saturating_sub(self.tasks.len() as u64);
        (missing_tasks > 0 || !self.missing_shards.is_empty()).then(|| Incomplete {
            shards: self.of,
            missing_shards: self.missing_shards.clone(),
            tasks: self.plan.tasks,
            missing_tasks,
        })
    }
}

/// Maximum number of missing shards that are listed. Without this limit, a file that claims to be one of four thousand
/// million shards would create a huge list.
const MAX_NAMED: usize = 10_000;

fn share(tasks: u64, index: u32, of: u32) -> u64 {
    let (index, of) = (u64::from(index), u64::from(of));
    tasks.saturating_sub(index).div_ceil(of.max(1))
}

fn apart(ours: &str, theirs: &str) -> [String; 2] {
    const BEFORE: usize = 30;
    const AFTER: usize = 60;
    let same = ours.chars().zip(theirs.chars()).take_while(|(ours, theirs)| ours == theirs).count();
    let from = same.saturating_sub(BEFORE);
    [ours, theirs].map(|text| {
        let shown: String = text.chars().skip(from).take(BEFORE + AFTER).collect();
        let cut = text.chars().count() > from + BEFORE + AFTER;
        format!("{}{shown}{}", if from > 0 { "…" } else { "" }, if cut { "…" } else { "" })
    })
}
