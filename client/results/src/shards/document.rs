//! One shard of the runs of a command, as `--shard` writes it and `loadgen merge` reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::ShardOf;
use super::plan::ShardPlan;
use crate::malformed::Malformed;
use crate::outline::Outline;
use crate::reading::read;
use crate::run::RunResult;
use crate::version::SchemaVersion;

/// Some of the runs of a command (--shard), for `loadgen merge`. Other programs want the merged document.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TaskShard<R = RunResult> {
    /// Rises when a key changes its meaning or goes away.
    pub schema_version: SchemaVersion,
    /// Which of them: task t belongs to the shard with index t mod of.
    pub shard: ShardOf,
    /// What all of them do.
    pub plan: ShardPlan,
    /// The runs that this one did, in the order of their numbers. Of one that was cut off, some are missing.
    pub tasks: Vec<TaskRecord<R>>,
}

/// A run that is over.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct TaskRecord<R = RunResult> {
    /// Its number among those of all shards, from 0, in the order in which the merged document has them.
    pub task: u64,
    /// Whether the server's counts could be compared with the client's.
    pub server_compared: bool,
    /// The generator's thread was busy for this share of the run; null when simulated.
    pub generator_share: Option<f64>,
    /// Whether any attempt got an answer.
    pub answered: bool,
    /// Whether the generator was the bottleneck.
    pub bottleneck: bool,
    /// Its result; of a sweep without its course and curve, which no document of a sweep has.
    pub run: R,
}

impl TaskShard {
    /// Reads one, and refuses what no shard is.
    ///
    /// # Errors
    /// When it is no JSON, of another form, of a later version, or contradicts itself.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        // No number in it is beyond all measure.
        read::<Outline>(text)?;
        let shard: Self = read(text)?;
        shard.check().map_err(|(place, what)| Malformed::at(&place, what))?;
        Ok(shard)
    }

    fn check(&self) -> Result<(), (String, String)> {
        let wrong = |place: &str, what: String| Err((place.to_owned(), what));
        let ShardOf { index, of, .. } = self.shard;
        if index >= of {
            return wrong("shard.index", format!("{index} is not below {of}, the number of shards"));
        }
        if self.plan.points.is_empty() {
            return wrong("plan.points", "is empty".to_owned());
        }
        if let Some(text) = self.plan.shown().find(|text| is_unprintable(text)) {
            return wrong("plan", format!("{text:?} is nothing that can be shown"));
        }
        let mut least = 0;
        for (at, TaskRecord { task, run, .. }) in self.tasks.iter().enumerate() {
            let place = format!("tasks[{at}].task");
            if *task >= self.plan.tasks {
                return wrong(
                    &place,
                    format!("{task} is not below {}, the number of tasks", self.plan.tasks),
                );
            }
            if task % u64::from(of) != u64::from(index) {
                return wrong(&place, format!("{task} is no task of shard {index} of {of}"));
            }
            if *task < least {
                return wrong(&place, format!("{task} does not come after the one before"));
            }
            least = task + 1;
            if let Some(text) = run.warnings.iter().find(|text| is_unprintable(text)) {
                return wrong(
                    &format!("tasks[{at}].run.warnings"),
                    format!("{text:?} is nothing that can be shown"),
                );
            }
            run.possible().map_err(|(path, what)| (format!("tasks[{at}].run.{path}"), what))?;
            if run.mode != self.plan.mode {
                return wrong(
                    &format!("tasks[{at}].run.mode"),
                    format!("is not `{}`, as planned", self.plan.mode.name()),
                );
            }
        }
        Ok(())
    }
}

/// Whether a terminal would do something else with it than show it: such texts are of nobody who wrote a shard.
fn is_unprintable(text: &str) -> bool {
    text.chars().any(char::is_control)
}
