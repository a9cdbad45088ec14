//! Documents that `loadgen compare` writes, and documents of runs with `--repeats`.

use serde::{Deserialize, Serialize};

use crate::{FiguresOverRuns, Incomplete, RunResult, ServerModel, ShardRecord};

/// Several runs of one strategy (--repeats). Repeat r, counted from 0, uses seed + r.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeats<R = RunResult> {
    /// Results of the repeated runs, in the order of their seeds.
    pub runs: Vec<R>,
    /// Statistics of each figure over all runs, such as mean and median. The key is the path of the figure in the result of a run.
    #[serde(default, deserialize_with = "crate::document::fields::known")]
    pub summary: FiguresOverRuns,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
    /// Shard of the command that this document is; absent unless `--shard` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
}

/// Strategies compared in blocks (loadgen compare). A block runs every strategy with the same seed. Runs are grouped by strategy, and each
/// group is in the order of blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison<R = RunResult> {
    pub runs: Vec<R>,
    pub comparison: Compared,
    /// Shard of the command that this document is; absent unless `--shard` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
}

/// Ranking and other results of a comparison of strategies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Compared {
    /// Path of the figure that ranks strategies, such as `makespan_s`. It ranks only strategies that did the same work, because figures of
    /// different work cannot be compared.
    pub by: String,
    /// Whether the share of ops done (`done_share`) ranks before the figure `by`, because the strategies did different work. If true, a
    /// larger share ranks first. Strategies with equal shares are ranked by attempts per success. Strategies that did every op are an
    /// exception, because `by` still ranks them.
    pub by_share: bool,
    /// Number of complete blocks. A block runs every strategy with the same seed.
    pub blocks: u64,
    /// Order in which each block ran the strategies. Each strategy is represented by its index on the command line, from 0.
    pub order: Vec<Vec<usize>>,
    /// Population of runs that the confidence intervals describe, in words, such as `over seeds, for this server model`.
    pub intervals: String,
    pub level: Option<f64>,
    /// Strategies from best to worst, followed by the strategies that cannot be ranked.
    pub strategies: Vec<StandingRecord>,
    /// Comparisons of the ranked strategies in pairs. Every two strategies that did the same work are compared in the figure that ranks
    /// them. The best strategy is also compared with each of the others in a second figure. Two strategies that did different work are
    /// compared in the share of ops done or, if their shares are equal, in attempts per success.
    pub pairs: Vec<PairRecord>,
    /// Rankings against servers whose configuration is slightly changed (--sensitivity). Empty without this flag.
    pub sensitivity: Vec<Variation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Rank and figures of a strategy in a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Standing"))]
#[serde(default)]
pub struct StandingRecord {
    /// Ranked strategy as given on the command line.
    pub strategy: String,
    pub rank: Option<u64>,
    /// Whether the strategy got as many ops done as the best strategy and has every figure that the ranking uses. If there is a time limit,
    /// only ops done within the limit count.
    pub complete: bool,
    /// Reason why the strategy is not complete; null if it is complete.
    pub incomplete_because: Option<String>,
    /// Whether the strategy is on the Pareto front: no other strategy is better in one of two figures without being worse in the other. The
    /// two figures are makespan and attempts or, if `by_share` is true, the share of ops done and attempts per success.
    pub on_pareto_front: bool,
    /// Statistics of each figure over all blocks. The key is the path of the figure.
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
    /// Rank in the printed table, from 1. Oracles (strategies that know the server in advance) are not counted. Null for oracles, for
    /// strategies whose `rank` is null, and with fewer than five blocks.
    pub place: Option<u64>,
    /// Whether other strategies have the same rank in the printed table.
    pub tied: bool,
    /// Ratio of the ranked figure to the ranked figure of the best strategy. Null if the strategy has no rank. Also null if the strategy
    /// did other work than the best one, unless the ranked figure is the share of ops done.
    pub times_best: Option<TimesRecord>,
    /// Ratio of the strategy's number of sent attempts to the best strategy's number of sent attempts. Null in the same cases as
    /// `times_best`.
    pub attempts_times_best: Option<TimesRecord>,
}

/// Ratio of a strategy's figure to the figure of the best strategy. One ratio is computed per block, and `ratio` is their geometric mean.
/// The interval uses Student's t on the logarithms of the ratios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TimesBest"))]
pub struct TimesRecord {
    /// Path of the figure whose ratio is stated, such as `makespan_s`.
    #[serde(default)]
    pub figure: String,
    pub ratio: f64,
    /// Lower end of the confidence interval of the ratio, at the `level` of the comparison. Null with fewer than five blocks, for the best
    /// strategy itself, and for oracles, which know the server in advance.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Comparison of two strategies in one figure, paired by block. A block runs every strategy with the same seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Pair"))]
pub struct PairRecord {
    /// First of two compared strategies. Its rank is at least as good as the second strategy's rank.
    #[serde(default)]
    pub first: String,
    /// Second of two compared strategies. Its rank is worse than the first strategy's rank, or the same.
    #[serde(default)]
    pub second: String,
    /// Path of the figure in which two strategies are compared, such as `makespan_s`.
    #[serde(default)]
    pub figure: String,
    /// Geometric mean over blocks of the first strategy's figure divided by the second strategy's figure. Null if a value is missing or not
    /// above zero.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval of the ratio of the two strategies' figures. With too few blocks, there is no interval, and
    /// `low`, `high`, `level` and `p` are null.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Confidence level of the interval from `low` to `high`.
    pub level: Option<f64>,
    /// p-value of the difference between the two strategies, corrected for multiple comparisons (Holm).
    pub p: Option<f64>,
    #[serde(default)]
    pub verdict: PairVerdict,
    /// Verdict on the comparison of two strategies, as a sentence.
    #[serde(default)]
    pub words: String,
}

/// Verdict on the first strategy's figure, compared with the second's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// The figures cannot be compared, because a block lacks the figure or a value is not above zero.
    #[default]
    Incomparable,
    /// There are too few blocks to decide which of the two strategies has the lower figure.
    TooFew,
    Lower,
    Higher,
    /// The runs do not show whether the first strategy's figure is lower or higher than the second's.
    NotDistinguishable,
    /// The figures of the two strategies are equal within 2 %, so any difference between them is too small to matter.
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

/// Ranking of the strategies against a server whose configuration is slightly changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Variation {
    /// Description of a change that `--sensitivity` made to the server's configuration.
    pub variation: String,
    pub server: ServerModel,
    /// Complete strategies, from best to worst. A strategy is complete if it got as many ops done as the best one and has the figures of
    /// the ranking.
    pub ranking: Vec<String>,
    /// Strategies that are not complete, because they got fewer ops done than the best one or lack a figure of the ranking.
    pub incomplete: Vec<String>,
    /// Whether every statement of the comparison also holds against the changed server. The statements are which strategies are complete,
    /// and which of two strategies is ahead. If true, `changes` is empty.
    pub stands: bool,
    /// Statements that change against the changed server, in words. They name strategies that become complete or incomplete, and leads that
    /// are lost or reversed.
    pub changes: Vec<String>,
    /// Short name of the change to the server, such as `cap +20 %` or `lognormal service`.
    pub name: String,
    /// Strategy that is distinguishably best against the changed server; null if there is none. With fewer than five blocks, it is the
    /// first strategy of the ranking.
    pub winner: Option<String>,
    /// Whether the winner against the changed server is also the winner of the comparison, or both rankings have no winner. Absent in
    /// documents of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_winner: Option<bool>,
}
