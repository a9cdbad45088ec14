//! Shards of the same plan, put together.

use std::collections::BTreeMap;

use super::document::{TaskRecord, TaskShard};
use super::incomplete::Incomplete;
use super::plan::ShardPlan;

/// Shards that belong together.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// What all of them were to do.
    pub plan: ShardPlan,
    /// How many shards there are to be.
    pub of: u32,
    /// Those that are not there.
    pub missing_shards: Vec<u32>,
    /// Shards that lack tasks, with their files and how many they lack.
    pub cut_off: Vec<(String, u64)>,
    /// All runs that are there, by number.
    pub tasks: BTreeMap<u64, TaskRecord>,
}

/// Shards that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the words of each error say what the fields are")]
pub enum ShardError {
    /// Made by another program.
    #[error(
        "`{file}` is of loadgen {theirs}, and this is {ours}: only the version that made shards merges them"
    )]
    Version { file: String, theirs: String, ours: String },
    /// Of another plan.
    #[error("`{file}` is a shard of something else than `{first}`: {what} is `{theirs}`, there `{ours}`")]
    Foreign { file: String, first: String, what: &'static str, ours: String, theirs: String },
    /// Of a plan in another number of shards.
    #[error("`{file}` is one of {theirs} shards, and `{first}` one of {ours}")]
    Divided { file: String, first: String, ours: u32, theirs: u32 },
    /// There twice.
    #[error("`{file}` and `{first}` are both shard {index} of {of}; give each once")]
    Doubled { file: String, first: String, index: u32, of: u32 },
    /// None at all.
    #[error("no shard is given")]
    None,
}

impl Assembled {
    /// Puts shards together that this version of the program made, each with the name of its file.
    ///
    /// # Errors
    /// When one does not belong to the first.
    pub fn of(
        shards: impl IntoIterator<Item = (String, TaskShard)>,
        version: &str,
    ) -> Result<Self, ShardError> {
        let mut whole: Option<(String, Self)> = None;
        let mut files: BTreeMap<u32, String> = BTreeMap::new();
        for (file, TaskShard { shard, plan, tasks, .. }) in shards {
            if plan.version != version {
                return Err(ShardError::Version { file, theirs: plan.version, ours: version.to_owned() });
            }
            let (first, whole) = whole.get_or_insert_with(|| {
                let none = Self {
                    plan: plan.clone(),
                    of: shard.of,
                    missing_shards: Vec::new(),
                    cut_off: Vec::new(),
                    tasks: BTreeMap::new(),
                };
                (file.clone(), none)
            });
            if let Some((what, ours, theirs)) = whole.plan.difference(&plan) {
                let [ours, theirs] = apart(&ours, &theirs);
                return Err(ShardError::Foreign { file, first: first.clone(), what, ours, theirs });
            }
            if whole.of != shard.of {
                return Err(ShardError::Divided {
                    file,
                    first: first.clone(),
                    ours: whole.of,
                    theirs: shard.of,
                });
            }
            if let Some(first) = files.get(&shard.index) {
                return Err(ShardError::Doubled {
                    file,
                    first: first.clone(),
                    index: shard.index,
                    of: shard.of,
                });
            }
            let lacks = share(plan.tasks, shard.index, shard.of).saturating_sub(tasks.len() as u64);
            if lacks > 0 {
                whole.cut_off.push((file.clone(), lacks));
            }
            whole.tasks.extend(tasks.into_iter().map(|task| (task.task, task)));
            files.insert(shard.index, file);
        }
        let Some((_, mut whole)) = whole else { return Err(ShardError::None) };
        whole.missing_shards =
            (0..whole.of).filter(|index| !files.contains_key(index)).take(MOST_NAMED).collect();
        Ok(whole)
    }

    /// What is missing, if anything is.
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

/// A file may say that it is one of four thousand million.
const MOST_NAMED: usize = 10_000;

/// How many of so many tasks belong to this shard.
fn share(tasks: u64, index: u32, of: u32) -> u64 {
    let (index, of) = (u64::from(index), u64::from(of));
    tasks.saturating_sub(index).div_ceil(of.max(1))
}

/// Two texts that are not the same, from shortly before where they part.
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
