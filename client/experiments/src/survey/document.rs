//! Document of a survey: every random setting with the figures of its runs.

use std::collections::BTreeSet;

use results::RunResult;
use serde::{Deserialize, Serialize};

use super::setting::Setting;

/// Factor that increases the time of an unfinished run. The time is first divided by the share of ops done and then multiplied by this
/// factor. Without the factor, a strategy that gives up early would look fast.
const UNFINISHED: f64 = 5.0;

/// Maximum duration of a run in the file of a survey, in seconds. No real run is longer, because instants overflow after 584 years.
const MAX_END_S: f64 = 2e10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// Seed from which the survey draws its settings (servers and workloads).
    pub seed: u64,
    /// Number of runs of each strategy in each setting of the survey. Each of these runs has its own seed.
    pub repeats: u32,
    #[serde(default)]
    pub stopped_early: bool,
    pub strategies: Vec<String>,
    /// Settings with their runs, in the order of their numbers.
    pub settings: Vec<Surveyed>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surveyed {
    #[serde(flatten)]
    pub setting: Setting,
    /// Runs of all strategies in this setting. Each inner list has the runs of one strategy, in the order of seeds.
    pub runs: Vec<Vec<Run>>,
}

/// Figures of one run that a survey needs. JSON represents them as the list `[end_s, attempts, undone, ops, fairness]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, u64, u64, u64, Option<f64>)", into = "(f64, u64, u64, u64, Option<f64>)")]
pub struct Run {
    /// Time from the first arrival to the last success, in seconds. If ops were left undone, time from the first arrival to the end of the
    /// run.
    pub end_s: f64,
    pub attempts: u64,
    pub undone: u64,
    pub ops: u64,
    /// Jain's fairness index of a run: it compares the numbers of ops that each client got done, in windows of time. `None` if the run has
    /// only one client.
    pub fairness: Option<f64>,
}

impl From<(f64, u64, u64, u64, Option<f64>)> for Run {
    fn from((end_s, attempts, undone, ops, fairness): (f64, u64, u64, u64, Option<f64>)) -> Self {
        Self { end_s, attempts, undone, ops, fairness }
    }
}

impl From<Run> for (f64, u64, u64, u64, Option<f64>) {
    fn from(run: Run) -> Self {
        (run.end_s, run.attempts, run.undone, run.ops, run.fairness)
    }
}

impl Survey {
    pub fn validate(&self) -> Result<(), String> {
        if self.strategies.iter().collect::<BTreeSet<_>>().len() != self.strategies.len() {
            return Err("a strategy is named twice".to_owned());
        }
        if self.settings.is_empty() {
            return Err("it has no settings".to_owned());
        }
        let mut numbers = BTreeSet::new();
        for Surveyed { setting, runs } in &self.settings {
            let number = setting.number;
            if !numbers.insert(number) {
                return Err(format!("setting {number} is repeated"));
            }
            let is_complete = |runs: &Vec<Run>| !runs.is_empty() && runs.len() == self.repeats as usize;
            if runs.len() != self.strategies.len() || !runs.iter().all(is_complete) {
                return Err(format!("setting {number} lacks runs"));
            }
            if !runs.iter().flatten().all(Run::is_possible) {
                return Err(format!("a run of setting {number} has impossible figures"));
            }
        }
        Ok(())
    }
}

impl Run {
    fn is_possible(&self) -> bool {
        let times = 1e-9..=MAX_END_S;
        let shares = 0.0..=1.0;
        times.contains(&self.end_s)
            && self.attempts > 0
            && self.ops > 0
            && self.undone <= self.ops
            && self.fairness.is_none_or(|index| shares.contains(&index))
    }

    pub fn new(result: &RunResult) -> Self {
        let ops = result.ops.offered.unwrap_or(result.ops.total);
        Self {
            end_s: result.stalled_at_s.or(result.makespan_s).unwrap_or_default(),
            attempts: result.attempts.total,
            undone: ops.saturating_sub(result.ops.succeeded),
            ops,
            fairness: result.fairness.as_ref().and_then(|fairness| fairness.jain),
        }
    }

    pub fn is_finished(&self) -> bool {
        self.undone == 0
    }

    pub fn time_s(&self) -> f64 {
        let penalty = if self.is_finished() { 1.0 } else { UNFINISHED };
        penalty * self.end_s * self.undone_factor()
    }

    /// Returns the number of attempts for all ops. If the run left ops undone, the number is extrapolated: it is divided by the share of
    /// ops done.
    pub fn attempts_for_all(&self) -> f64 {
        self.attempts as f64 * self.undone_factor()
    }

    fn undone_factor(&self) -> f64 {
        self.ops as f64 / self.ops.saturating_sub(self.undone).max(1) as f64
    }
}
