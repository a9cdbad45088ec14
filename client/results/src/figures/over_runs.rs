//! One figure over runs of different seeds, in the format of documents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistics::{Interval, Summary};

/// Figures over runs, keyed by their path in a run's result.
pub type FiguresOverRuns = BTreeMap<String, OverRuns>;

/// One figure over runs of different seeds. The fields stand in the order of the alphabet, as all documents of several runs
/// have their keys.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(description = "One figure over runs of different seeds.")]
#[serde(expecting = "an object")]
pub struct OverRuns {
    /// Runs that have the figure.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Confidence interval of the mean over seeds; null below five runs.
    #[serde(default)]
    pub interval: Option<IntervalRecord>,
    /// The highest run.
    #[serde(default)]
    pub max: Option<f64>,
    /// The mean.
    pub mean: f64,
    /// Interval of the median (p50) by order statistics, exact whatever the shape; null below six runs.
    #[serde(default)]
    pub median_interval: Option<IntervalRecord>,
    /// The lowest run.
    #[serde(default)]
    pub min: Option<f64>,
    /// The 25th percentile.
    #[serde(default)]
    pub p25: Option<f64>,
    /// The 5th percentile.
    #[serde(default)]
    pub p5: Option<f64>,
    /// The median.
    #[serde(default)]
    pub p50: Option<f64>,
    /// The 75th percentile.
    #[serde(default)]
    pub p75: Option<f64>,
    /// The 95th percentile.
    #[serde(default)]
    pub p95: Option<f64>,
    /// Standard deviation; null of a single run.
    #[serde(default)]
    pub sd: Option<f64>,
    /// Whether the skewness is more than luck and too much for so few runs: the interval of the mean then misses more often
    /// than its level says.
    #[serde(default)]
    pub skewed: bool,
    /// Sample skewness G1; null below three runs or when all are equal.
    #[serde(default)]
    pub skewness: Option<f64>,
}

/// A range that holds the truth as often as it says.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Interval")]
#[serde(expecting = "an object")]
pub struct IntervalRecord {
    /// How it was found.
    pub by: Estimator,
    /// The upper end.
    pub high: f64,
    /// Coverage, such as 0.95; of a median the one that it really has.
    pub level: f64,
    /// The lower end.
    pub low: f64,
}

/// How an interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Student's t.
    StudentT,
    /// Bias-corrected and accelerated bootstrap.
    BcaBootstrap,
    /// From one order statistic to another.
    OrderStatistics,
}

impl From<&Summary> for OverRuns {
    fn from(figure: &Summary) -> Self {
        Self {
            count: figure.count as u64,
            interval: figure.interval.map(Into::into),
            max: Some(figure.max),
            mean: figure.mean,
            median_interval: figure.median_interval.map(Into::into),
            min: Some(figure.min),
            p25: Some(figure.p25),
            p5: Some(figure.p5),
            p50: Some(figure.p50),
            p75: Some(figure.p75),
            p95: Some(figure.p95),
            sd: figure.deviation,
            skewed: figure.too_skewed().is_some(),
            skewness: figure.skewness,
        }
    }
}

impl From<Interval> for IntervalRecord {
    fn from(interval: Interval) -> Self {
        let by = match interval.estimator {
            statistics::Estimator::StudentT => Estimator::StudentT,
            statistics::Estimator::Bootstrap => Estimator::BcaBootstrap,
            statistics::Estimator::OrderStatistics => Estimator::OrderStatistics,
        };
        Self { by, high: interval.high, level: interval.level.coverage(), low: interval.low }
    }
}

pub fn figures_over_runs<'a>(
    figures: impl IntoIterator<Item = &'a (&'static str, Summary)>,
) -> FiguresOverRuns {
    figures.into_iter().map(|(path, figure)| ((*path).to_owned(), figure.into())).collect()
}
