//! Merging of the runs of one command: their order, their seeds, and what is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::part::{MergeError, Part};
use crate::document::merged::{COUNTED, listed};
use crate::{At, Axis, Conditions, Incomplete, Mode, RunResult, ShardRecord};

/// Maximum number of seeds and of points. Documents that claim more are refused, because no command has more.
const MAX_SEEDS: u32 = 1_000_000;
const MAX_POINTS: usize = 1_000_000;

/// Runs of all documents, in the order of the document of the undivided command.
#[derive(Clone, Debug)]
pub struct Merged {
    /// What all documents have in common, without runs. Its labels are those of all documents.
    pub common: Part,
    pub mode: Mode,
    /// Seeds of all blocks, in ascending order from the first seed of the command.
    pub seeds: Vec<u64>,
    /// Points that have runs.
    pub points: Vec<MergedPoint>,
    /// Start time of the first run; `None` in virtual time.
    pub began: Option<String>,
    /// Parts that are missing, in words. Empty if nothing is missing.
    pub missing: Vec<String>,
    pub incomplete: Option<Incomplete>,
}

/// Runs at one combination of values of the varied parameters.
#[derive(Clone, Debug)]
pub struct MergedPoint {
    pub at: Vec<String>,
    /// Runs by strategy, then by seed. `None` if a run is missing.
    pub runs: Vec<Vec<Option<Box<RunResult>>>>,
}

struct Cell {
    file: String,
    run: RunResult,
}

/// Merges the runs of several documents, each with the name of its file. The order of the documents does not matter.
///
/// # Errors
/// Fails if the documents are of different commands, versions or conditions, or if two of them have the same run.
pub fn merged(mut parts: Vec<(String, Part)>, version: &str) -> Result<Merged, MergeError> {
    parts.sort_by_key(|(_, part)| part.runs.iter().map(|run| run.seed).min());
    let Some((first, common)) = parts.first() else {
        return Err(MergeError("no document is given, so there is nothing to merge".into()));
    };
    let mut common = Part { runs: Vec::new(), labels: Vec::new(), ..common.clone() };
    let first = first.clone();
    let ats = points(&common, &first)?;
    let places: BTreeMap<String, usize> =
        ats.iter().enumerate().map(|(place, (_, at))| (text(at), place)).collect();
    let mut merging = Merging { strategies: vec![Vec::new(); ats.len()], runs: BTreeMap::new(), mode: None };
    let mut shards = Shards::default();
    let mut seeds = BTreeSet::new();
    let mut stopped = Vec::new();
    for (file, part) in parts {
        for (what, of) in SAME {
            let (ours, theirs) = (of(&common), of(&part));
            if ours != theirs {
                return Err(differ(&file, &first, what, &ours, &theirs));
            }
        }
        let Part { runs, shard, is_sensitive, labels, .. } = part;
        common.is_sensitive |= is_sensitive;
        for label in labels {
            if !common.labels.contains(&label) {
                common.labels.push(label);
            }
        }
        let runs: Option<Vec<(usize, RunResult)>> = runs
            .into_iter()
            .map(|run| Some((*places.get(&run.at.as_ref().map_or("{}".to_owned(), text))?, run)))
            .collect();
        let runs = runs.ok_or_else(|| broken(&file, "a run is at none of the points of its sweep"))?;
        if let Some(shard) = shard {
            let asks = |(_, run): &(usize, RunResult)| {
                run.config.command_line.iter().any(|word| word == "--sensitivity")
            };
            common.is_sensitive |= runs.iter().any(asks);
            shards.take(&file, shard, &runs, ats.len())?;
        }
        for (point, run) in runs {
            seeds.insert(run.seed);
            if run.interrupted.is_some() {
                stopped.push(format!("seed {} of `{file}` was stopped", run.seed));
                continue;
            }
            merging.take(&file, run, (point, &ats[point].1), version)?;
        }
    }
    merging.check()?;
    let Some(mode) = merging.mode else {
        return Err(MergeError("the documents contain no run, so there is nothing to merge".into()));
    };
    let seeds: Vec<u64> = match shards.seeds() {
        Some(seeds) => seeds,
        None => seeds.into_iter().collect(),
    };
    let strategies = merging.strategies.iter().map(Vec::len).max().unwrap_or_default();
    let whole = ats.len() * seeds.len() * strategies;
    let there = merging.keep_complete_blocks();
    let mut missing = shards.missing();
    missing.extend(stopped);
    let missing_runs = (whole as u64).saturating_sub(there);
    if missing_runs > 0 && missing.is_empty() {
        missing.push(format!("{missing_runs} of {whole} runs are in no document"));
    }
    let incomplete = (!missing.is_empty()).then(|| Incomplete {
        shards: shards.of.map_or(1, |of| of.of),
        missing_shards: shards.missing_shards(),
        tasks: whole as u64,
        missing_tasks: missing_runs,
    });
    let began = merging.runs.values().filter_map(|cell| cell.run.started_at.clone()).min();
    let mut points = Vec::new();
    for (point, (values, _)) in ats.into_iter().enumerate() {
        let strategies = std::mem::take(&mut merging.strategies[point]);
        let mut run =
            |strategy: usize, seed: u64| Some(Box::new(merging.runs.remove(&(point, strategy, seed))?.run));
        let runs: Vec<Vec<_>> = (0..strategies.len())
            .map(|strategy| seeds.iter().map(|seed| run(strategy, *seed)).collect())
            .collect();
        if runs.iter().flatten().any(Option::is_some) {
            points.push(MergedPoint { at: values, runs });
        }
    }
    Ok(Merged { common, mode, seeds, points, began, missing, incomplete })
}

fn broken(file: &str, what: &str) -> MergeError {
    MergeError(format!("`{file}` cannot be merged: {what}"))
}

fn apart(file: &str, first: &str, what: &str) -> MergeError {
    MergeError(format!("`{file}` and `{first}` cannot be merged: {what}"))
}

fn differ(file: &str, first: &str, what: &str, ours: &str, theirs: &str) -> MergeError {
    apart(file, first, &format!("{what} is `{theirs}` in the first and `{ours}` in the second"))
}

/// Name of a property of a document, and the function that returns its value.
type Property = (&'static str, fn(&Part) -> String);

/// Properties that all documents of a merge have in common.
const SAME: [Property; 5] = [
    ("its command", |part| part.command.name().into()),
    ("`--by`", |part| part.by.clone()),
    ("`--vary`", |part| {
        let axis = |axis: &Axis| format!("{}={}", axis.key, axis.values.join(","));
        part.axes.iter().map(axis).collect::<Vec<_>>().join(" ")
    }),
    ("the number of shards", |part| part.shard.map_or("none".to_owned(), |shard| shard.of.to_string())),
    ("the number of blocks", |part| part.shard.map_or(String::new(), |shard| shard.blocks.to_string())),
];

/// Returns all points of a command: every combination of values. The value of the first parameter changes most slowly.
fn points(part: &Part, file: &str) -> Result<Vec<(Vec<String>, At)>, MergeError> {
    if number_of_points(&part.axes).is_none() {
        return Err(broken(file, "its sweep has too many points"));
    }
    let placed = |values: Vec<String>| {
        let there = Axis::at(&part.axes, &values);
        (values, there)
    };
    Ok(Axis::combinations(&part.axes).into_iter().map(placed).collect())
}

/// Returns `None` if there are too many points. The limit also holds for the first axes alone, because a later axis can be empty.
fn number_of_points(axes: &[Axis]) -> Option<usize> {
    axes.iter().try_fold(1, |points: usize, axis| {
        points.checked_mul(axis.values.len()).filter(|points| *points <= MAX_POINTS)
    })
}

fn text(at: &At) -> String {
    serde_json::to_string(at).unwrap_or_default()
}

struct Merging {
    /// Strategies of each point, in the order of the command line.
    strategies: Vec<Vec<String>>,
    runs: BTreeMap<(usize, usize, u64), Cell>,
    mode: Option<Mode>,
}

impl Merging {
    fn take(
        &mut self,
        file: &str,
        run: RunResult,
        (point, at): (usize, &At),
        version: &str,
    ) -> Result<(), MergeError> {
        if run.config.version != version {
            return Err(MergeError(format!(
                "`{file}` was written by loadgen {}, and this is {version}; merge documents with the version that wrote them",
                run.config.version
            )));
        }
        self.mode = Some(run.mode);
        // All runs of a command have the conditions of its first run; the varied parameters and the strategies differ between cells.
        let known = self.strategies[point].iter().position(|strategy| *strategy == run.strategy);
        let strategy = known.unwrap_or_else(|| {
            self.strategies[point].push(run.strategy.clone());
            self.strategies[point].len() - 1
        });
        if let Some((_, other)) = self.runs.range((point, 0, 0)..=(point, usize::MAX, u64::MAX)).next() {
            let conditions = |run: &RunResult| Conditions::from_run(run).of_any_seed().of_any_strategy();
            let there = conditions(&other.run).written();
            if let Some(what) = conditions(&run).differences(&there).into_iter().next() {
                return Err(apart(file, &other.file, &what));
            }
        }
        if let Some((_, same)) = self.runs.range((point, strategy, 0)..=(point, strategy, u64::MAX)).next()
            && same.run.config.strategy != run.config.strategy
        {
            return Err(apart(file, &same.file, &format!("parameters of {} differ", run.strategy)));
        }
        let seed = run.seed;
        if let Some(before) = self.runs.get(&(point, strategy, seed)) {
            let places = at.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
            let at = if places.is_empty() { String::new() } else { format!(" at {}", places.join(", ")) };
            return Err(MergeError(format!(
                "`{file}` and `{}` both have seed {seed} of {}{at}; give each run once",
                before.file, run.strategy
            )));
        }
        self.runs.insert((point, strategy, seed), Cell { file: file.to_owned(), run });
        Ok(())
    }

    /// Checks that all documents have the same strategies at each point that they share.
    fn check(&self) -> Result<(), MergeError> {
        let mut files: BTreeMap<(usize, &str), BTreeSet<usize>> = BTreeMap::new();
        for ((point, strategy, _), cell) in &self.runs {
            files.entry((*point, &cell.file)).or_default().insert(*strategy);
        }
        for ((point, file), own) in &files {
            let all = &self.strategies[*point];
            let Some(lacks) = (0..all.len()).find(|strategy| !own.contains(strategy)) else { continue };
            let has_it = |(there, _): &(&(usize, &str), &BTreeSet<usize>)| there.0 == *point;
            let other = files.iter().filter(has_it).find(|(_, own)| own.contains(&lacks));
            let other = other.map_or(*file, |((_, other), _)| *other);
            if other != *file {
                return Err(apart(file, other, &format!("{} is only in the second", all[lacks])));
            }
        }
        Ok(())
    }

    /// Drops runs of blocks that lack a strategy, and returns the number of the other runs.
    fn keep_complete_blocks(&mut self) -> u64 {
        let mut counts: BTreeMap<(usize, u64), usize> = BTreeMap::new();
        for (point, _, seed) in self.runs.keys() {
            *counts.entry((*point, *seed)).or_default() += 1;
        }
        let strategies = self.strategies.iter().map(Vec::len).max().unwrap_or_default();
        self.runs.retain(|(point, _, seed), _| counts[&(*point, *seed)] == strategies);
        self.runs.len() as u64
    }
}

/// Shards that were given, and the first seed of their command.
#[derive(Default)]
struct Shards {
    of: Option<ShardRecord>,
    repeats: u64,
    base: Option<(u64, String)>,
    /// File, and number of blocks, of each shard.
    files: BTreeMap<u32, (String, u64)>,
}

impl Shards {
    fn take(
        &mut self,
        file: &str,
        shard: ShardRecord,
        runs: &[(usize, RunResult)],
        points: usize,
    ) -> Result<(), MergeError> {
        let broken = |what| Err(broken(file, what));
        let ShardRecord { index, of, blocks } = shard;
        self.of.get_or_insert(shard);
        let points = points as u64;
        self.repeats = blocks / points.max(1);
        if blocks == 0 || blocks % points != 0 || self.repeats > u64::from(MAX_SEEDS) {
            return broken("`shard.blocks` is not the number of blocks of its command");
        }
        let (mut own, mut known) = (Vec::new(), BTreeSet::new());
        for (point, run) in runs {
            if u64::from(run.config.repeats) != self.repeats {
                return broken("`config.repeats` of a run contradicts `shard.blocks`");
            }
            if known.insert((*point, run.seed)) {
                own.push((*point, run.seed));
            }
        }
        for (place, (point, seed)) in own.iter().enumerate() {
            let block = u64::from(index) + place as u64 * u64::from(of);
            let base = seed.wrapping_sub(block % self.repeats);
            if block >= blocks || block / self.repeats != *point as u64 {
                return broken("a run is of no block of this shard");
            }
            match &self.base {
                None => self.base = Some((base, file.to_owned())),
                Some((there, first)) if *there != base => {
                    return Err(differ(file, first, "the first seed", &there.to_string(), &base.to_string()));
                }
                Some(_) => {}
            }
        }
        if let Some((first, _)) = self.files.insert(index, (file.to_owned(), own.len() as u64)) {
            let words = format!("`{file}` and `{first}` are both shard {index} of {of}; give each once");
            return Err(MergeError(words));
        }
        Ok(())
    }

    fn seeds(&self) -> Option<Vec<u64>> {
        let (base, _) = self.base.as_ref()?;
        Some((0..self.repeats).map(|block| base.wrapping_add(block)).collect())
    }

    fn missing_shards(&self) -> Vec<u32> {
        let of = self.of.map_or(0, |shard| shard.of);
        (0..of).filter(|index| !self.files.contains_key(index)).take(COUNTED).collect()
    }

    fn missing(&self) -> Vec<String> {
        let Some(any) = self.of else { return Vec::new() };
        let of = any.of;
        let shards = listed("shard", self.missing_shards().iter().map(|index| format!("{index}/{of}")));
        let lacking = self.files.iter().filter_map(|(index, (file, done))| {
            let lacking = ShardRecord { index: *index, ..any }.lacking(*done)?;
            Some(format!("`{file}` lacks {lacking}"))
        });
        shards.map(|shards| format!("no document has {shards}")).into_iter().chain(lacking).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_points_holds_before_an_empty_axis() {
        let axis = |count: usize| Axis { key: "ops".to_owned(), values: vec!["1".to_owned(); count] };
        assert_eq!(number_of_points(&[axis(2), axis(3)]), Some(6));
        assert_eq!(number_of_points(&[axis(2), axis(0)]), Some(0));
        assert_eq!(number_of_points(&[axis(1000), axis(1001), axis(0)]), None);
    }
}
