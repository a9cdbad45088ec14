//! Documents that `loadgen compare` and `--repeats` write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::config::ServerModel;
use crate::document::run::RunResult;
use crate::figures::over_runs::FiguresOverRuns;
use crate::shards::Incomplete;

/// Several runs of one strategy (--repeats): repeat r uses seed + r.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Repeats<R = RunResult> {
    /// By seed.
    pub runs: Vec<R>,
    /// Figures over runs, by their path in a run's result.
    #[serde(default, deserialize_with = "crate::document::fields::known")]
    pub summary: FiguresOverRuns,
    /// What was missing when shards were merged; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Strategies in blocks of equal luck (loadgen compare). Runs stand by strategy, and of each in the order of blocks.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Comparison<R = RunResult> {
    /// All that were made.
    pub runs: Vec<R>,
    /// What they say.
    pub comparison: Compared,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Compared {
    /// Path of the figure that strategies are ranked by.
    pub by: String,
    /// Whether strategies did not get the same share of their ops done: then the larger share comes first (`done_share`), and
    /// then who needs fewer attempts per success; those who did every op are still ranked by `by`.
    pub by_share: bool,
    /// Complete blocks.
    pub blocks: u64,
    /// For each block, the order in which it ran the strategies, by their place among those typed.
    pub order: Vec<Vec<usize>>,
    /// What intervals are over.
    pub intervals: String,
    /// Confidence level of each interval of `times_best`; all of them hold together in 95 % of comparisons. Null below five blocks.
    pub level: Option<f64>,
    /// From the best to the worst; those that cannot be ranked last.
    pub strategies: Vec<StandingRecord>,
    /// Every two that did the same work, and the best against the others in a second figure; where shares differ, every two in
    /// that share, or with the same share in attempts per success.
    pub pairs: Vec<PairRecord>,
    /// The ranking against other servers; empty without --sensitivity.
    pub sensitivity: Vec<Variation>,
    /// What was missing when shards were merged; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
}

/// Where a strategy stands.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Standing")]
#[serde(default, expecting = "an object")]
pub struct StandingRecord {
    /// As typed.
    pub strategy: String,
    /// From 1, the same for strategies that cannot be distinguished; null when it stalled, or lacks what strategies are ranked by.
    pub rank: Option<u64>,
    /// Whether it got as many ops done as the best, in time where that was asked for.
    pub complete: bool,
    /// Why it did not.
    pub incomplete_because: Option<String>,
    /// Whether no other one needs fewer attempts and finishes sooner; with `by_share`, whether none gets a larger share done and
    /// needs fewer attempts per success.
    pub on_pareto_front: bool,
    /// Over blocks.
    #[serde(deserialize_with = "crate::document::fields::known")]
    pub figures: FiguresOverRuns,
    /// Rank in the printed table, from 1: among strategies that do not know the server. Null below five blocks, and for strategies that
    /// stalled or know the server.
    pub place: Option<u64>,
    /// Whether other strategies have the same place.
    pub tied: bool,
    /// Ranked figure over that of the best strategy; null for strategies that did not do the same work.
    pub times_best: Option<TimesRecord>,
    /// Attempts sent over those of the best strategy; null as above.
    pub attempts_times_best: Option<TimesRecord>,
}

/// Ratio to the best strategy: geometric mean of ratios paired by block, with Student's t on their logarithms.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "TimesBest")]
#[serde(expecting = "an object")]
pub struct TimesRecord {
    /// Path of the figure.
    #[serde(default)]
    pub figure: String,
    /// Geometric mean of the paired ratios.
    pub ratio: f64,
    /// Lower end of the interval at `level`; null below five blocks, for the best strategy itself, and for those that know the server.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// Two strategies in one figure, paired by block.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Pair")]
#[serde(expecting = "an object")]
pub struct PairRecord {
    /// The better ranked one.
    #[serde(default)]
    pub first: String,
    /// The other.
    #[serde(default)]
    pub second: String,
    /// Path of the figure.
    #[serde(default)]
    pub figure: String,
    /// First over second, geometric mean over blocks; null when there is none.
    pub ratio: Option<f64>,
    /// Interval of the ratio; null when there are too few blocks, as are high, level and p.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Its coverage.
    pub level: Option<f64>,
    /// Corrected for comparing many (Holm).
    pub p: Option<f64>,
    /// What it lets one say.
    #[serde(default)]
    pub verdict: PairVerdict,
    /// The same as a sentence.
    #[serde(default)]
    pub words: String,
}

/// What a pair lets one say of the first one's figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// A block lacks the figure, or it is not above zero.
    #[default]
    Incomparable,
    /// Too few blocks.
    TooFew,
    /// It is lower.
    Lower,
    /// It is higher.
    Higher,
    /// It may be either.
    NotDistinguishable,
    /// If there is a difference, it does not matter.
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

/// The ranking against a server that is a little different.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct Variation {
    /// What is different.
    pub variation: String,
    /// The mockserver's configuration.
    pub server: ServerModel,
    /// Complete strategies from the best to the worst.
    pub ranking: Vec<String>,
    /// The others.
    pub incomplete: Vec<String>,
    /// Whether nothing changed that had been claimed.
    pub stands: bool,
    /// What changed.
    pub changes: Vec<String>,
    /// The difference in a few words: `cap +20 %`, `lognormal service`.
    pub name: String,
    /// Strategy that is distinguishably first against this server, with fewer than five blocks the first one; null if there is none.
    pub winner: Option<String>,
    /// Whether the comparison has the same winner, or none as well; absent in documents of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_winner: Option<bool>,
}
