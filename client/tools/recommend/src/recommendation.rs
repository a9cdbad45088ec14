//! Document that `loadgen recommend` writes.

use std::collections::BTreeMap;

use results::SchemaVersion;
use results::numbers::counted;
use serde::{Deserialize, Serialize};

use crate::servers::PlausibleServer;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct Recommendation {
    pub schema_version: SchemaVersion,
    pub decision: Decision,
    pub goal: RecommendationGoal,
    /// Time within which each op had to be done; null if ops had no such time.
    #[serde(default)]
    pub within_s: Option<f64>,
    /// Number of ops for which alone the chosen setting holds. Null if ten times as many leave at most 1 percentage point more undone.
    #[serde(default)]
    pub holds_for: Option<HoldsFor>,
    pub settings: Vec<RecommendedSetting>,
    /// Settings of the library as text, as `loadgen strategies S --print-settings` prints them. Null if none change, or if no format of
    /// settings is known for the library.
    #[serde(default)]
    pub library_settings: Option<String>,
    pub today: usize,
    pub chosen: usize,
    pub assumptions: Vec<Assumption>,
    pub servers: Vec<TriedServer>,
    pub candidates: Vec<TriedSetting>,
    /// Today's setting and the best other setting on the nominal server, with the seed of the search.
    pub nominal: NominalRuns,
    pub fresh: FreshRuns,
    pub look_ups: Vec<LookUpRecord>,
    /// Price of obeying the server's advice with all ops, behind a limit on concurrent requests; null if there is none.
    #[serde(default)]
    pub obeying: Option<Obeying>,
    pub search_attempts: u64,
    pub left_out: LeftOut,
    pub again: String,
}

impl Recommendation {
    /// Returns the word for ops that were not done, or not done in time.
    pub fn undone_word(&self) -> &'static str {
        if self.within_s.is_some() { "late" } else { "undone" }
    }
}

/// Limit of an answer that a server's burst makes possible.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HoldsFor {
    pub ops: u64,
    /// Share of ops that ten times as many leave undone minus the share of these, on the server whose burst helps most.
    pub more_undone_of_longer: f64,
    /// Rate, in attempts per second, that also holds for any number of ops. Null if it is unknown.
    pub rate_for_any_number_per_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Change,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecommendationGoal {
    // All ops done (in time, if they have one), then the shortest makespan: a fixed amount of work (`--in-flight`).
    Finish,
    // Ops done in time, then attempts per success: ops that arrive at a rate (`--rate`).
    InTime,
}

impl RecommendationGoal {
    /// Returns the difference in undone ops, in percentage points, up to which settings count as equal. Of a fixed amount of work, every op
    /// matters.
    pub fn equal_points(self) -> f64 {
        match self {
            Self::Finish => 0.2,
            Self::InTime => 1.0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecommendedSetting {
    pub of: SettingOf,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assumption {
    pub key: String,
    pub nominal: String,
    pub plausible: String,
    pub assumed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedServer {
    pub changes: BTreeMap<String, String>,
    pub drawn: bool,
}

/// Setting that was tried, with its runs on the servers of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedSetting {
    pub strategy: String,
    /// Number of workers; null if ops arrive at a rate.
    pub in_flight: Option<u32>,
    /// Differences of the tried setting from today's setting, in words.
    pub changes: Vec<String>,
    pub by_code: bool,
    pub eligible: bool,
    pub excess_points: Vec<Option<f64>>,
    pub worst_excess_points: Option<f64>,
    pub undone: Vec<Option<f64>>,
    pub cost: Vec<Option<f64>>,
}

impl TriedSetting {
    pub(crate) fn name(&self) -> String {
        if self.changes.is_empty() { "today's setting".to_owned() } else { self.changes.join(" and ") }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NominalRuns {
    pub seed: u64,
    pub today: NominalRun,
    /// Run of the chosen setting or, if today's setting is kept, of the best other setting. Null if no other setting was run.
    pub other: Option<NominalRun>,
}

/// Figures of one run on the nominal server, as `loadgen compare` prints them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NominalRun {
    pub candidate: usize,
    pub ops_succeeded: u64,
    pub done_share: Option<f64>,
    pub makespan_s: Option<f64>,
    pub attempts: u64,
    pub attempts_per_success: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FreshRuns {
    pub other: usize,
    pub seeds: u32,
    pub servers: Vec<FreshServerRuns>,
    pub today: FreshFigures,
    pub of_other: FreshFigures,
    pub points: f64,
    pub points_low: f64,
    pub points_high: f64,
    /// Cost of the other setting divided by the cost of today's setting, as a geometric mean over servers. Null if no server has both
    /// costs.
    pub cost_ratio: Option<f64>,
    pub better: usize,
    pub same: usize,
    pub worse: Vec<usize>,
}

/// Runs of today's setting and the other setting on one fresh server. Each figure is a mean over seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FreshServerRuns {
    pub changes: BTreeMap<String, String>,
    pub today_undone: f64,
    pub other_undone: f64,
    pub today_cost: Option<f64>,
    pub other_cost: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FreshFigures {
    /// Share of ops that a setting leaves undone (or late), 0 to 1.
    pub undone: f64,
    /// Least and largest share on the fresh servers and on those of the search.
    pub least_undone: f64,
    pub most_undone: f64,
    /// Number of these servers. Servers of the search are left out on which a run was ended because of its many attempts.
    #[serde(default)]
    pub servers: usize,
    /// Mean makespan in seconds; null if no op was done on some server.
    pub makespan_s: Option<f64>,
    /// True if a run ended before all its ops, so that the makespan is a lower bound.
    #[serde(default)]
    pub is_cut: bool,
    /// Attempts per op that succeeded; null if no op was done on some server.
    pub attempts_per_success: Option<f64>,
    pub rejected_per_100_ops: f64,
}

/// The fastest strategy that stops all ops until the advised instant (`hold` or `tailback`), compared with the same strategy without that,
/// on the nominal server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Obeying {
    pub strategy: String,
    pub without: String,
    /// Makespan with the gate divided by the makespan without it.
    pub makespan_ratio: f64,
    /// Number of requests that are sent without the gate although the server has asked their client to wait.
    pub early_requests: u64,
}

/// Uncertain figure of the server. Its true value decides which setting is best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookUpRecord {
    pub key: String,
    /// Condition on an uncertain figure of the server, such as `≥ 418/m` or `no`.
    pub condition: String,
    /// Number of ops for which alone this setting holds, as in the answer.
    #[serde(default)]
    pub holds_for: Option<HoldsFor>,
    /// Index in `candidates` of the setting that is better if the condition holds.
    pub candidate: usize,
    /// Share of ops left undone by the chosen setting minus the share left by this setting, in percentage points. Only servers that meet
    /// the condition count.
    pub points: f64,
    /// Ratio of the cost of this setting to the cost of the chosen setting, over servers that meet the condition.
    pub cost_ratio: f64,
    // Numbers of the servers of the search on which the condition holds.
    #[serde(skip)]
    pub(crate) tried: Vec<usize>,
    // Fresh servers on which to confirm the look-up, each with the figure in the part of its range.
    #[serde(skip)]
    pub(crate) servers: Vec<PlausibleServer>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    pub servers: usize,
    pub candidates: usize,
}

impl LeftOut {
    /// Returns what was left out, such as `2 servers and 1 setting`. `None` if nothing was.
    pub(crate) fn text(self) -> Option<String> {
        let parts = [(self.servers, "server"), (self.candidates, "setting")];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts.map(|(number, one)| counted(number as u64, one)).collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }
}
