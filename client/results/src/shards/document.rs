//! Document with one shard of the runs of a command. `--shard` writes it, and `loadgen merge` reads it.

use loadgen_core::ClientShard;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::kind::{ShardKind, ShardOf};
use super::plan::{ShardPlan, is_unprintable};
use crate::document::countable::{uncountable, words};
use crate::document::malformed::Malformed;
use crate::document::probe::DocumentProbe;
use crate::document::reading::read;
use crate::document::run::{OpsResult, RunResult};
use crate::document::version::SchemaVersion;

#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TaskShard<R = RunResult> {
    pub schema_version: SchemaVersion,
    pub shard: ShardOf,
    pub plan: ShardPlan,
    pub tasks: Vec<TaskRecord<R>>,
}

/// Record of a finished run that a shard executed.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TaskRecord<R = RunResult> {
    pub task: u64,
    /// Whether the server's counts could be compared with the counts of the client.
    pub server_compared: bool,
    /// Share of the run's time for which the load generator's thread was busy; null if simulated.
    pub generator_share: Option<f64>,
    /// Whether any attempt of the run got an answer.
    pub answered: bool,
    /// Description of the last thing that arrived from the server and was no usable answer.
    #[serde(default)]
    pub last_arrived: Option<String>,
    /// Whether the load generator itself was the bottleneck of the run.
    pub bottleneck: bool,
    /// Result of the run. In a sweep, the result has no time series and no latency curve.
    pub run: R,
}

#[derive(Clone, Debug)]
pub struct ReadShard<'a> {
    pub shard: ShardOf,
    pub plan: ShardPlan,
    /// Runs in the order of their numbers, as pairs: the number of the run, and the JSON text of its [`TaskRecord`].
    pub tasks: Vec<(u64, &'a str)>,
    /// Start of the earliest run; `None` if the runs were simulated.
    pub began: Option<String>,
}

/// Document of a shard without the contents of its runs. The runs are only checked to be a list, because they are parsed later.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Head {
    #[serde(rename = "schema_version")]
    _version: SchemaVersion,
    shard: ShardOf,
    plan: ShardPlan,
    #[serde(rename = "tasks")]
    _tasks: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Texts<'a> {
    #[serde(borrow)]
    tasks: Vec<&'a RawValue>,
}

impl TaskRecord {
    pub fn read(text: &str) -> Result<Self, Malformed> {
        read(text)
    }
}

impl<'a> ReadShard<'a> {
    /// Parses the document of a shard and rejects contents that no shard can have. The runs are parsed one after the other for these
    /// checks, and only their texts are kept.
    ///
    /// # Errors
    /// Fails if the text is not JSON, has another structure, is of a later version, or has contents that contradict each other.
    pub fn read(text: &'a str) -> Result<Self, Malformed> {
        // Parsing the text as a `DocumentProbe` rejects numbers above 2⁶⁴.
        read::<DocumentProbe>(text)?;
        let Head { shard, plan, .. } = read(text)?;
        let ShardOf { kind, index, of } = shard;
        if index >= of {
            return Err(Malformed::at(
                "shard.index",
                format!("{index} is not below {of}, the number of shards"),
            ));
        }
        if kind == ShardKind::Clients
            && let Err(error) = ClientShard::new(index, of)
        {
            return Err(Malformed::at("shard", error.to_string()));
        }
        plan.check()?;
        let texts: Texts<'_> =
            serde_json::from_str(text).map_err(|error| Malformed::new(text, "tasks", &error))?;
        let (mut tasks, mut began, mut least) = (Vec::with_capacity(texts.tasks.len()), None, 0);
        for (at, text) in texts.tasks.into_iter().map(RawValue::get).enumerate() {
            let record = TaskRecord::read(text).map_err(|wrong| wrong.inside(&format!("tasks[{at}]")))?;
            let number = record.task;
            let refused = |key: &str, what: String| Err(Malformed::at(&format!("tasks[{at}].{key}"), what));
            if number >= plan.tasks {
                return refused("task", format!("{number} is not below {}, the number of tasks", plan.tasks));
            }
            if kind == ShardKind::Tasks && number % u64::from(of) != u64::from(index) {
                return refused("task", format!("{number} is not a task of shard {index} of {of}"));
            }
            if number < least {
                return refused("task", format!("{number} is not later than the previous entry"));
            }
            least = number + 1;
            if let Err((path, what)) = record.run.possible() {
                return refused(&format!("run.{path}"), what);
            }
            if let Some((path, what)) = contradiction(&record.run) {
                return refused(&format!("run.{path}"), what);
            }
            let part = record.run.shard.as_ref().map(|shard| (shard.index, shard.of));
            if kind == ShardKind::Clients && part != Some((index, of)) {
                return refused(
                    "run.shard",
                    format!("differs from the shard of the document, {index} of {of}"),
                );
            }
            if record.run.mode != plan.mode {
                return refused("run.mode", format!("is not `{}`, as planned", plan.mode.name()));
            }
            if let Some(text) = record.run.warnings.iter().find(|text| is_unprintable(text)) {
                return refused("run.warnings", format!("{text:?} contains characters that cannot be shown"));
            }
            tasks.push((number, text));
            let start = record.run.started_at;
            // Timestamps of this format (RFC 3339, always in UTC) can be compared as texts.
            began = match (began, start) {
                (Some(before), Some(start)) => Some(std::cmp::min::<String>(before, start)),
                (before, start) => before.or(start),
            };
        }
        Ok(Self { shard, plan, tasks, began })
    }
}

fn contradiction(run: &RunResult) -> Option<(&'static str, String)> {
    let OpsResult { total, succeeded, given_up, unfinished, .. } = run.ops;
    let ended = [succeeded, given_up, unfinished].into_iter().fold(0, u64::saturating_add);
    if total != ended {
        return Some((
            "ops.total",
            format!("is {total}, but {ended} ops succeeded, were given up or are unfinished"),
        ));
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
