//! Documents that `loadgen compare` and `--repeats` write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::config::ServerModel;
use crate::document::run::RunResult;
use crate::figures::over_runs::FiguresOverRuns;
use crate::shards::Incomplete;

/// Several runs of one strategy (--repeats). Repeat r, counted from 0, uses seed + r.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Repeats<R = RunResult> {
    /// Runs in the order of their seeds.
    pub runs: Vec<R>,
    /// Figures over runs, by their path in a run's result.
    #[serde(default, deserialize_with = "crate::document::fields::known")]
    pub summary: FiguresOverRuns,
    /// Runs that are missing, because shards were missing in a merge or because a run could not be done; absent if no run is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Strategies compared in blocks (loadgen compare). A block runs every strategy with the same seed. Runs are grouped by strategy, and each
/// group is in the order of blocks.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Comparison<R = RunResult> {
    /// All runs that were made.
    pub runs: Vec<R>,
    /// Results of the comparison.
    pub comparison: Compared,
}

/// Results of a comparison.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Compared {
    /// Path of the figure that ranks strategies that did the same work.
    pub by: String,
    /// Whether the ranking uses shares of ops done, because strategies did not do the same share. A larger share (`done_share`) then ranks
    /// first. Equal shares are ranked by attempts per success, except that strategies that did every op are still ranked by `by`.
    pub by_share: bool,
    /// Number of complete blocks. A block runs every strategy with the same seed.
    pub blocks: u64,
    /// For each block, the order in which it ran the strategies, as indices into the strategies of the command line.
    pub order: Vec<Vec<usize>>,
    /// Description of the runs that intervals cover, such as `over seeds, for this server model`.
    pub intervals: String,
    /// Confidence level of each interval of `times_best`; all of them hold together in 95 % of comparisons. Null below five blocks.
    pub level: Option<f64>,
    /// Strategies from best to worst, followed by the strategies that cannot be ranked.
    pub strategies: Vec<StandingRecord>,
    /// Comparisons of two ranked strategies. Every two strategies that did the same work are compared in the ranked figure. The best one is
    /// also compared with the others in a second figure. All other pairs are compared in the share of ops done or, if their shares are
    /// equal, in attempts per success.
    pub pairs: Vec<PairRecord>,
    /// Rankings against servers that differ a little; empty without --sensitivity.
    pub sensitivity: Vec<Variation>,
    /// Runs that are missing, because shards were missing in a merge or because a run could not be done; absent if no run is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Rank and figures of a strategy in a comparison.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Standing")]
#[serde(default, expecting = "an object")]
pub struct StandingRecord {
    /// Strategy as given on the command line.
    pub strategy: String,
    /// Rank from 1, with equal ranks for strategies that cannot be distinguished. Null if the strategy stalled, was interrupted, or lacks
    /// the figure that ranks strategies.
    pub rank: Option<u64>,
    /// Whether the strategy got as many ops done as the best one, within the time limit if there is one, and has the figures that rank
    /// strategies.
    pub complete: bool,
    /// Reason why the strategy is not complete; null if it is complete.
    pub incomplete_because: Option<String>,
    /// Whether no other strategy is better in one of two figures without being worse in the other. The figures are makespan and attempts.
    /// With `by_share`, they are the share of ops done and attempts per success.
    pub on_pareto_front: bool,
    /// Figures over blocks, by path.
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
    /// Rank in the printed table, from 1, among strategies that do not know the server. Null below five blocks, for strategies whose `rank`
    /// is null, and for strategies that know the server.
    pub place: Option<u64>,
    /// Whether other strategies have the same rank in the printed table.
    pub tied: bool,
    /// Ratio of the strategy's ranked figure to that of the best strategy. Null for strategies without a rank and, unless the ranked figure
    /// is the share of ops done, for strategies that did not do the same work.
    pub times_best: Option<TimesRecord>,
    /// Ratio of the attempts sent to those of the best strategy; null in the same cases as `times_best`.
    pub attempts_times_best: Option<TimesRecord>,
}

/// Ratio to the best strategy: geometric mean of ratios paired by block, with Student's t on their logarithms.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "TimesBest")]
#[serde(expecting = "an object")]
pub struct TimesRecord {
    /// Path of the compared figure.
    #[serde(default)]
    pub figure: String,
    /// Geometric mean of the paired ratios.
    pub ratio: f64,
    /// Lower end of the interval of the ratio at confidence `level`. Null below five blocks, for the best strategy itself, and for
    /// strategies that know the server.
    pub low: Option<f64>,
    /// Upper end of the interval of the ratio.
    pub high: Option<f64>,
}

/// Comparison of two strategies in one figure, paired by block. A block runs every strategy with the same seed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Pair")]
#[serde(expecting = "an object")]
pub struct PairRecord {
    /// Strategy with the better rank.
    #[serde(default)]
    pub first: String,
    /// Strategy with the worse or the same rank.
    #[serde(default)]
    pub second: String,
    /// Path of the compared figure.
    #[serde(default)]
    pub figure: String,
    /// Ratio of the first strategy's figure to the second's, as geometric mean over blocks; null if there is no ratio.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio. Null if there are too few blocks, as are `high`, `level` and `p`.
    pub low: Option<f64>,
    /// Upper end of the interval of the ratio.
    pub high: Option<f64>,
    /// Confidence level of the interval.
    pub level: Option<f64>,
    /// p-value of the difference, corrected for multiple comparisons (Holm).
    pub p: Option<f64>,
    /// Verdict on the first strategy's figure.
    #[serde(default)]
    pub verdict: PairVerdict,
    /// Verdict as a sentence.
    #[serde(default)]
    pub words: String,
}

/// Verdict on the first strategy's figure, compared with the second's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// A block lacks the figure, or the figure is not above zero.
    #[default]
    Incomparable,
    /// There are too few blocks to decide.
    TooFew,
    /// The first strategy's figure is lower.
    Lower,
    /// The first strategy's figure is higher.
    Higher,
    /// The first strategy's figure may be lower or higher.
    NotDistinguishable,
    /// The figures are equal within 2 %, so a difference would not matter.
    Equivalent,
}

impl From<Option<statistics::PairOutcome>> for PairVerdict {
    fn from(verdict: Option<statistics::PairOutcome>) -> Self {
        use statistics::PairOutcome;
        match verdict {
            None => Self::Incomparable,
            Some(PairOutcome::TooFew) => Self::TooFew,
            Some(PairOutcome::Lower) => Self::Lower,
            Some(PairOutcome::Higher) => Self::Higher,
            Some(PairOutcome::NotDistinguishable) => Self::NotDistinguishable,
            Some(PairOutcome::Equivalent) => Self::Equivalent,
        }
    }
}

/// Ranking against a server that differs a little.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Variation {
    /// Description of the difference.
    pub variation: String,
    /// Configuration of the mockserver with the difference.
    pub server: ServerModel,
    /// Complete strategies, which got as many ops done as the best one, from best to worst.
    pub ranking: Vec<String>,
    /// Strategies that are not complete.
    pub incomplete: Vec<String>,
    /// Whether every statement of the comparison also holds against this server.
    pub stands: bool,
    /// Changes of the ranking against this server, in words.
    pub changes: Vec<String>,
    /// Name of the difference: `cap +20 %`, `lognormal service`.
    pub name: String,
    /// Strategy that is distinguishably first against this server (with fewer than five blocks, the first one); null if there is none.
    pub winner: Option<String>,
    /// Whether the winner is the same as in the comparison, or neither has one. Absent in documents of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_winner: Option<bool>,
}
