//! Statistics of one figure over runs with different seeds, in the format of documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statistics::{Interval, Summary};

/// Statistics of figures over runs. The key is the path of the figure in the result of a run.
pub type FiguresOverRuns = BTreeMap<String, OverRuns>;

/// Statistics of one figure over runs with different seeds. The fields are in alphabetical order, because all documents of several runs
/// contain their keys in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(description = "One figure over runs of different seeds.")
)]
pub struct OverRuns {
    /// Number of runs that have a value of the figure.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
    /// Confidence interval of the mean over seeds; null with fewer than five runs.
    #[serde(default)]
    pub interval: Option<IntervalRecord>,
    #[serde(default)]
    pub max: Option<f64>,
    pub mean: f64,
    /// Confidence interval of the median (p50), from one order statistic to another. It is exact for any distribution. Null with fewer than
    /// six runs.
    #[serde(default)]
    pub median_interval: Option<IntervalRecord>,
    #[serde(default)]
    pub min: Option<f64>,
    #[serde(default)]
    pub p25: Option<f64>,
    #[serde(default)]
    pub p5: Option<f64>,
    #[serde(default)]
    pub p50: Option<f64>,
    #[serde(default)]
    pub p75: Option<f64>,
    #[serde(default)]
    pub p95: Option<f64>,
    /// Standard deviation of the figure over runs; null for a single run.
    #[serde(default)]
    pub sd: Option<f64>,
    /// Whether the values are so skewed that an interval from so few runs is unreliable, and the skewness is not due to chance. If true,
    /// the interval of the mean misses the true mean more often than its level states.
    #[serde(default)]
    pub skewed: bool,
    /// Sample skewness (G1) of the figure over runs. Null with fewer than three runs, or if all runs have the same value.
    #[serde(default)]
    pub skewness: Option<f64>,
}

/// Confidence interval: it contains the true value with the probability `level`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Interval"))]
pub struct IntervalRecord {
    pub by: Estimator,
    pub high: f64,
    /// Probability that the confidence interval contains the true value, such as 0.95. For the interval of a median, it is the actual
    /// probability, which may be higher than the requested one.
    pub level: f64,
    pub low: f64,
}

/// Statistical method that computes a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    StudentT,
    /// The interval was computed with the bias-corrected and accelerated bootstrap.
    BcaBootstrap,
    /// The interval is the range from one order statistic of the sample to another.
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
