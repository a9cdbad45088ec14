//! Plan of a command whose work is divided into shards. It contains everything needed to plan the same runs again, without any other file.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::config::{RequestRecord, ServerModel, TransportRecord};
use crate::document::malformed::Malformed;
use crate::document::run::Mode;
use crate::document::sweep::Axis;

/// Plan of the work of a command, for all of its shards together, with default values filled in. Every shard contains the same plan.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ShardPlan {
    /// Version of the program that made the plan. Only the same version plans the same runs.
    pub version: String,
    pub command: ShardedCommand,
    pub mode: Mode,
    /// Command line, without flags for output files and without the shard.
    pub command_line: Vec<String>,
    /// Number of runs in all shards together, including runs against other servers (--sensitivity).
    pub tasks: u64,
    /// Strategies of the plan, as given on the command line.
    pub strategies: Vec<String>,
    /// Figure by which strategies are ranked, as its path in a result; null if there is no ranking.
    pub by: Option<String>,
    /// Whether strategies are also ranked against other servers than the planned one (--sensitivity).
    pub sensitivity: bool,
    /// Parameters that the command varies, each with its values; empty unless the command is a sweep.
    pub axes: Vec<Axis>,
    /// Points of the plan: every combination of values of the varied parameters. The value of the first parameter changes most slowly. If
    /// nothing is varied, there is one point.
    #[schemars(length(min = 1))]
    pub points: Vec<PlannedPoint>,
}

/// Command whose work can be divided into shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardedCommand {
    Run,
    Compare,
    Sweep,
}

impl ShardedCommand {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Compare => "compare",
            Self::Sweep => "sweep",
        }
    }
}

/// Point of a plan: one combination of values of the varied parameters. At a point, all strategies have the same workload and server.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct PlannedPoint {
    /// Value of every varied parameter, as given on the command line.
    pub at: Vec<String>,
    /// Strategies that are executed at this point of the plan, each with its parameters.
    #[schemars(length(min = 1))]
    pub strategies: Vec<String>,
    /// All parameters of the workload that are set, including seed and repeats, with values as on the command line.
    pub workload: BTreeMap<String, String>,
    pub server: PlannedServer,
    pub request: RequestRecord,
    /// Whether a request may be sent again regardless of its HTTP method.
    pub idempotent: bool,
    /// Transport that sends the requests; null if simulated. The number of threads depends on the machine of each shard.
    pub transport: Option<TransportRecord>,
}

/// Server as it was found or configured before any run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct PlannedServer {
    /// Kind of the server: `embedded`, `found` or `simulated`, or else the server's URL.
    pub kind: String,
    /// Address of the server; null if it is simulated or embedded.
    pub target: Option<String>,
    pub words: String,
    /// Configuration of the mockserver; null for any other server.
    pub model: Option<ServerModel>,
}

impl ShardPlan {
    /// Compares this plan with another plan and returns the first difference, or `None` if both plans are the same. A difference consists
    /// of its name, its value in this plan, and its value in the other plan. The most informative differences are checked first.
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let texts = |plan: &Self| {
            [
                ("its version", plan.version.clone()),
                ("its command", plan.command.name().to_owned()),
                ("its mode", plan.mode.name().to_owned()),
                ("its seed", plan.parameter("seed")),
                ("its strategy", plan.strategies.join(",")),
                ("`--repeats`", plan.parameter("repeats")),
                ("the number of points", plan.points.len().to_string()),
                (
                    "`--vary`",
                    plan.axes
                        .iter()
                        .map(|axis| format!("{}={}", axis.key, axis.values.join(",")))
                        .collect::<Vec<_>>()
                        .join(" "),
                ),
                ("`--by`", plan.by.clone().unwrap_or_default()),
                ("its command line", plan.command_line.join(" ")),
            ]
        };
        let (ours, theirs) = (texts(self), texts(other));
        let mut pairs = ours.into_iter().zip(theirs);
        if let Some(((what, ours), (_, theirs))) = pairs.find(|(ours, theirs)| ours != theirs) {
            // If the command lines of two plans differ, the cause may be a different workload or server. The different workload or server
            // is then reported instead of the command lines.
            let inner = if what == "its command line" { self.inner_difference(other) } else { None };
            return Some(inner.unwrap_or((what, ours, theirs)));
        }
        let another = || ("its plan", format!("{} runs", self.tasks), "another of the same name".to_owned());
        let same = self.on_one_thread() == other.on_one_thread();
        (!same).then(|| self.inner_difference(other).unwrap_or_else(another))
    }

    /// Returns the plan with the number of threads set to 1, because this number depends on the machine.
    fn on_one_thread(&self) -> Self {
        let mut plan = self.clone();
        for transport in plan.points.iter_mut().filter_map(|point| point.transport.as_mut()) {
            transport.threads = 1;
        }
        plan
    }

    /// Returns a hash of the plan. Shards of the same plan have the same hash. Shards that cannot be merged because their plans differ have
    /// different hashes. Hashes can be compared only within one version of the program.
    pub fn fingerprint(&self) -> String {
        let mut hasher = DefaultHasher::new();
        // Converting a plan to JSON cannot fail, so the default value is never hashed.
        serde_json::to_string(&self.on_one_thread()).unwrap_or_default().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    pub(super) fn check(&self) -> Result<(), Malformed> {
        if self.points.is_empty() {
            return Err(Malformed::at("plan.points", "is empty"));
        }
        match self.shown().find(|text| is_unprintable(text)) {
            Some(text) => {
                Err(Malformed::at("plan", format!("{text:?} contains characters that cannot be shown")))
            }
            None => Ok(()),
        }
    }

    fn shown(&self) -> impl Iterator<Item = &str> {
        let axes = self.axes.iter().flat_map(|axis| std::iter::once(&axis.key).chain(&axis.values));
        let points = self.points.iter().flat_map(|point| {
            let PlannedServer { kind, target, words, .. } = &point.server;
            point.at.iter().chain(&point.strategies).chain([kind, words]).chain(target)
        });
        self.strategies.iter().chain(axes).chain(points).map(String::as_str)
    }

    fn inner_difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let listed = |map: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            let differs = map.iter().filter(|(key, value)| other.get(*key) != Some(*value));
            differs.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
        };
        let differs = |(ours, theirs): (&PlannedPoint, &PlannedPoint)| {
            if ours.workload != theirs.workload {
                let (ours, theirs) = (&ours.workload, &theirs.workload);
                return Some(("its workload", listed(ours, theirs), listed(theirs, ours)));
            }
            let request =
                |point: &PlannedPoint| serde_json::to_string(&(&point.request, point.idempotent)).ok();
            if request(ours) != request(theirs) {
                let [ours, theirs] = [request(ours), request(theirs)].map(Option::unwrap_or_default);
                return Some(("its request", ours, theirs));
            }
            if ours.server != theirs.server {
                return Some(("its server", ours.server.pairs(), theirs.server.pairs()));
            }
            let name =
                |point: &PlannedPoint| point.transport.as_ref().map(|transport| transport.name.clone());
            if name(ours) != name(theirs) {
                let [ours, theirs] = [name(ours), name(theirs)].map(Option::unwrap_or_default);
                return Some(("its transport", ours, theirs));
            }
            let strategies = (ours.strategies.join(","), theirs.strategies.join(","));
            (strategies.0 != strategies.1).then_some(("its strategy", strategies.0, strategies.1))
        };
        self.points.iter().zip(&other.points).find_map(differs)
    }

    fn parameter(&self, key: &str) -> String {
        let first = self.points.first().and_then(|point| point.workload.get(key));
        first.cloned().unwrap_or_default()
    }
}

impl PlannedServer {
    fn pairs(&self) -> String {
        let model = self.model.as_ref().and_then(|model| serde_json::to_string(model).ok());
        [Some(self.words.clone()), self.target.clone(), model]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// True if `text` contains control characters, which `loadgen` never writes.
pub(super) fn is_unprintable(text: &str) -> bool {
    text.chars().any(char::is_control)
}
