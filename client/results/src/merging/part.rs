//! One document to merge: the runs of a command, or of one shard of it.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::document::countable::{uncountable, words};
use crate::document::probe::DocumentProbe;
use crate::document::{FORMER_SHARD, Versioned};
use crate::{Axis, Malformed, OpsResult, RunResult, ShardRecord, read};

/// Reason why documents cannot be merged, with the names of their files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MergeError(pub(super) String);

/// Command whose documents can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedCommand {
    Run,
    Compare,
    Sweep,
}

impl MergedCommand {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Compare => "compare",
            Self::Sweep => "sweep",
        }
    }
}

/// Document to merge.
#[derive(Clone, Debug)]
pub struct Part {
    pub command: MergedCommand,
    pub runs: Vec<RunResult>,
    pub shard: Option<ShardRecord>,
    /// Figure by which strategies are ranked, as its path in a result. Empty if nothing is ranked.
    pub by: String,
    pub is_sensitive: bool,
    pub axes: Vec<Axis>,
    /// Strategies of a sweep as given on the command line, as far as they have cells.
    pub labels: Vec<String>,
}

#[derive(Deserialize)]
struct Several {
    runs: Vec<RunResult>,
    shard: Option<ShardRecord>,
    comparison: Option<ComparedBy>,
    sweep: Option<SweptBy>,
}

#[derive(Deserialize)]
struct ComparedBy {
    by: String,
    #[serde(default)]
    sensitivity: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct SweptBy {
    by: String,
    axes: Vec<Axis>,
    cells: Vec<Labelled>,
}

#[derive(Deserialize)]
struct Labelled {
    label: String,
}

impl Part {
    /// Parses a document with its runs.
    ///
    /// # Errors
    /// Fails if the text is not a result of runs, a comparison or a sweep, is of a later version, or contradicts itself.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        let outline: DocumentProbe = read(text)?;
        if outline.has("schema_version") {
            read::<Versioned>(text)?;
        }
        if outline.has("shard") && outline.has("plan") {
            return Err(Malformed::at("", FORMER_SHARD));
        }
        let part = if outline.has("runs") {
            let Several { runs, shard, comparison, sweep } = read(text)?;
            let part = Self { shard, ..Self::of_runs(runs) };
            match (comparison, sweep) {
                (None, None) => part,
                (Some(compared), _) => Self {
                    command: MergedCommand::Compare,
                    by: compared.by,
                    is_sensitive: !compared.sensitivity.is_empty(),
                    ..part
                },
                (None, Some(swept)) => {
                    let mut labels: Vec<String> = Vec::new();
                    for Labelled { label } in swept.cells {
                        if !labels.contains(&label) {
                            labels.push(label);
                        }
                    }
                    Self { command: MergedCommand::Sweep, by: swept.by, axes: swept.axes, labels, ..part }
                }
            }
        } else if outline.has("attempts") {
            Self::of_runs(vec![read(text)?])
        } else {
            return Err(Malformed::at(
                "",
                "the document has no runs; merge results of runs, `compare` or `sweep`",
            ));
        };
        part.check()?;
        Ok(part)
    }

    pub(super) fn of_runs(runs: Vec<RunResult>) -> Self {
        Self {
            command: MergedCommand::Run,
            runs,
            shard: None,
            by: String::new(),
            is_sensitive: false,
            axes: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn check(&self) -> Result<(), Malformed> {
        if let Some(ShardRecord { index, of, .. }) = self.shard.filter(|shard| shard.index >= shard.of) {
            return Err(Malformed::at(
                "shard.index",
                format!("{index} is not below {of}, the number of shards"),
            ));
        }
        for (at, run) in self.runs.iter().enumerate() {
            let refused = |key: &str, what: String| Err(Malformed::at(&format!("runs[{at}].{key}"), what));
            run.possible(&format!("runs[{at}]."))?;
            if let Some((path, what)) = contradiction(run) {
                return refused(path, what);
            }
            if let Some(text) = run.warnings.iter().find(|text| text.chars().any(char::is_control)) {
                return refused("warnings", format!("{text:?} contains characters that cannot be shown"));
            }
        }
        Ok(())
    }
}

fn contradiction(run: &RunResult) -> Option<(&'static str, String)> {
    let OpsResult { total, succeeded, given_up, unfinished, .. } = run.ops;
    let ended = [succeeded, given_up, unfinished].into_iter().fold(0, u64::saturating_add);
    if total != ended {
        let what = format!("is {total}, but {ended} ops succeeded, were given up or are unfinished");
        return Some(("ops.total", what));
    }
    if let Some((place, count)) = uncountable(run) {
        return Some((place, words(count)));
    }
    if run.config.seed != run.seed {
        return Some(("config.seed", format!("is {}, and the run's is {}", run.config.seed, run.seed)));
    }
    let makespan = run.makespan_s.filter(|makespan| *makespan < 0.0);
    makespan.map(|makespan| ("makespan_s", format!("{makespan} cannot be")))
}
