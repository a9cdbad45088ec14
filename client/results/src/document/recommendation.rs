//! Document that `loadgen recommend` writes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::version::SchemaVersion;

/// Setting for a client, chosen over plausible servers in virtual time (loadgen recommend).
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Recommendation {
    pub schema_version: SchemaVersion,
    pub decision: Decision,
    pub goal: RecommendationGoal,
    /// Changes to make, the first words of the answer; empty if today's setting is kept.
    pub settings: Vec<RecommendedSetting>,
    /// Settings of the library as text, as `loadgen strategies S --print-settings` prints them. Null if none change, or if no format of
    /// settings is known for the library.
    #[serde(default)]
    pub library_settings: Option<String>,
    /// Index in `candidates` of the setting that the client has today.
    pub today: usize,
    /// Index in `candidates` of the chosen setting; equal to `today` if today's setting is kept.
    pub chosen: usize,
    pub assumptions: Vec<Assumption>,
    /// Servers of the search for a better setting, the nominal server first.
    pub servers: Vec<TriedServer>,
    /// Settings that the search for a better setting tried, today's setting first.
    pub candidates: Vec<TriedSetting>,
    /// Today's setting and the best other setting on the nominal server, with the seed of the search.
    pub nominal: NominalRuns,
    /// Runs on servers and seeds that the search did not use.
    pub fresh: FreshRuns,
    pub look_ups: Vec<LookUpRecord>,
    pub search_attempts: u64,
    /// Servers and settings that the search left out, because it is limited to 6 million attempts.
    pub left_out: LeftOut,
    pub again: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Today's setting should be replaced by the chosen setting.
    Change,
    /// Today's setting is as good as any that was tried.
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecommendationGoal {
    /// The first goal is to get all ops done. The second goal is the shortest makespan.
    Finish,
    /// Ops done in time, then the fewest attempts per success.
    InTime,
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RecommendedSetting {
    pub of: SettingOf,
    /// The recommended change, in words or as the library's setting, such as `OpenAI(max_retries=5)`.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOf {
    Library,
    Strategy,
    /// The setting to change is the number of workers (`--in-flight`).
    Workers,
    /// The setting to change is a rate of attempts, in the client's own code.
    Rate,
}

/// Uncertain figure of the server, with the values that are plausible for it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Assumption {
    pub key: String,
    pub nominal: String,
    /// Plausible values of an uncertain figure, as a range `LOW..HIGH` or a list.
    pub plausible: String,
    /// Whether the command line has no `--unsure`, so that the figure was assumed to be uncertain.
    pub assumed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TriedServer {
    pub changes: BTreeMap<String, String>,
    pub drawn: bool,
}

/// Setting that was tried, with its runs on the servers of the search.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct TriedSetting {
    pub strategy: String,
    /// Number of workers; null if ops arrive at a rate.
    pub in_flight: Option<u32>,
    /// Differences of the tried setting from today's setting, in words.
    pub changes: Vec<String>,
    /// Whether the setting needs code that the library does not have. Such a setting is not recommended.
    pub by_code: bool,
    /// Whether the setting could be chosen. False with `by_code`, and if rejections exceed `--max-rejected` on a server.
    pub eligible: bool,
    /// Excess of the setting on each server, in percentage points. It is the setting's share of undone (or late) ops minus the least share
    /// among the compared settings on the same server. Null if the setting did not run on the server.
    pub excess_points: Vec<Option<f64>>,
    /// Largest excess; null unless the setting ran on all servers.
    pub worst_excess_points: Option<f64>,
    /// Share of undone (or late) ops on each server, 0 to 1; null where it did not run.
    pub undone: Vec<Option<f64>>,
    /// Makespan in seconds or attempts per success on each server; null where it did not run or no op was done.
    pub cost: Vec<Option<f64>>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct NominalRuns {
    pub seed: u64,
    pub today: NominalRun,
    /// Run of the chosen setting or, if today's setting is kept, of the best other setting. Null if no other setting was run.
    pub other: Option<NominalRun>,
}

/// Figures of one run on the nominal server, as `loadgen compare` prints them.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct NominalRun {
    pub candidate: usize,
    pub ops_succeeded: u64,
    pub done_share: Option<f64>,
    pub makespan_s: Option<f64>,
    pub attempts: u64,
    pub attempts_per_success: Option<f64>,
}

/// Comparison of today's setting with one other setting on fresh servers. The other setting is the chosen one or, if today's setting is
/// kept, the best of the other settings.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FreshRuns {
    /// Index in `candidates` of the setting that is compared with today's setting; equal to `today` if no other setting was tried.
    pub other: usize,
    pub seeds: u32,
    pub servers: Vec<FreshServerRuns>,
    pub today: FreshFigures,
    pub of_other: FreshFigures,
    /// Mean difference between the shares of undone ops, in percentage points. Each difference is today's share minus the share of the
    /// other setting.
    pub points: f64,
    /// Lower end of the 95 % interval of that difference (bootstrap over servers).
    pub points_low: f64,
    pub points_high: f64,
    /// Cost of the other setting divided by the cost of today's setting, as a geometric mean over servers. Null if no server has both
    /// costs.
    pub cost_ratio: Option<f64>,
    /// Number of servers on which the other setting leaves fewer ops undone than today's setting, by more than 1 percentage point.
    pub better: usize,
    pub same: usize,
    /// Servers on which the other setting leaves more ops undone than today's setting, by more than 1 percentage point. Each is an index in
    /// `servers`.
    pub worse: Vec<usize>,
}

/// Runs of today's setting and the other setting on one fresh server. Each figure is a mean over seeds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FreshServerRuns {
    pub changes: BTreeMap<String, String>,
    pub today_undone: f64,
    pub other_undone: f64,
    pub today_cost: Option<f64>,
    pub other_cost: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FreshFigures {
    /// Share of ops that a setting leaves undone (or late), 0 to 1.
    pub undone: f64,
    pub least_undone: f64,
    pub most_undone: f64,
    /// Mean makespan in seconds; null if no op was done on some server.
    pub makespan_s: Option<f64>,
    /// Attempts per op that succeeded; null if no op was done on some server.
    pub attempts_per_success: Option<f64>,
    pub rejected_per_100_ops: f64,
}

/// Uncertain figure of the server. Its true value decides which setting is best.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LookUpRecord {
    pub key: String,
    /// Condition on an uncertain figure of the server, such as `≥ 418/m` or `no`.
    pub condition: String,
    /// Index in `candidates` of the setting that is better if the condition holds.
    pub candidate: usize,
    /// Share of ops left undone by the chosen setting minus the share left by this setting, in percentage points. Only servers that meet
    /// the condition count.
    pub points: f64,
    /// Ratio of the cost of this setting to the cost of the chosen setting, over servers that meet the condition.
    pub cost_ratio: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct LeftOut {
    pub servers: usize,
    pub candidates: usize,
}
