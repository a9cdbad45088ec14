//! What several runs say together: every figure over seeds. The unit of statistics is the run.

use experiments::runs::one_run::Finished;
use results::RunResult;
use serde_json::{Map, Value, json};
use statistics::{Estimator, Interval, Level, Method, Summary};

use crate::text::figures::{counted, level, short, thousands};

type Figure = (&'static str, fn(&RunResult) -> Option<f64>);

/// Figures that are summed up, by their place in the result.
const FIGURES: &[Figure] = &[
    ("ops.succeeded", |run| Some(run.ops.succeeded as f64)),
    ("ops.given_up", |run| Some(run.ops.given_up as f64)),
    ("ops.unfinished", |run| Some(run.ops.unfinished as f64)),
    ("attempts.total", |run| Some(run.attempts.total as f64)),
    ("attempts.rejected", |run| Some(run.attempts.rejected as f64)),
    ("attempts.failed", |run| Some(run.attempts.failed as f64)),
    ("amplification", |run| run.amplification),
    ("efficiency", |run| run.efficiency),
    ("makespan_s", |run| run.makespan_s),
    ("optimal_makespan_s", |run| run.optimal_makespan_s),
    ("goodput_per_s", |run| run.goodput_per_s),
    ("op_latency_ms.mean", |run| run.op_latency_ms.mean),
    ("op_latency_ms.p50", |run| run.op_latency_ms.p50),
    ("op_latency_ms.p75", |run| run.op_latency_ms.p75),
    ("op_latency_ms.p95", |run| run.op_latency_ms.p95),
    ("op_latency_ms.p99", |run| run.op_latency_ms.p99),
    ("op_latency_ms.max", |run| run.op_latency_ms.max),
    ("late_share", |run| run.late_share),
    ("wasted_server_s", |run| run.wasted_server_s),
    ("window.convergence_s", |run| run.window.convergence_s),
    ("window.overshoot", |run| run.window.overshoot),
    ("window.rejected_before_convergence", |run| Some(run.window.rejected_before_convergence as f64)),
    ("window.mean", |run| run.window.mean),
    ("window.variation", |run| run.window.variation),
    ("window.cuts_per_min", |run| run.window.cuts_per_min),
    ("fairness.jain", |run| run.fairness?.jain),
    ("fairness.jain_whole_run", |run| run.fairness?.jain_whole_run),
    ("fairness.slowest_mean_ms", |run| run.fairness?.slowest_mean_ms),
    ("fairness.slowest_over_median", |run| run.fairness?.slowest_over_median),
];

/// Every figure that at least one run has.
pub(crate) fn summary(runs: &[Finished]) -> Vec<(&'static str, Summary)> {
    // Whoever repeats an experiment with another seed draws other resamples, too.
    let seed = runs.first().map_or(0, |run| run.result.seed);
    FIGURES
        .iter()
        .filter_map(|(path, figure)| {
            let values: Vec<f64> = runs.iter().filter_map(|run| figure(&run.result)).collect();
            Some((*path, Summary::of(&values, Level::P95, Method::BySize { seed })?))
        })
        .collect()
}

/// That intervals of means cannot be trusted where figures over seeds are skewed, and what to look at instead; one line per
/// figure, named as given. None below three runs.
pub(crate) fn skewed<'a>(figures: impl Iterator<Item = (String, &'a Summary)>) -> Vec<String> {
    figures
        .filter_map(|(name, figure)| {
            let (skewness, enough) = (figure.too_skewed()?, figure.runs_enough()?);
            let median = match figure.median_interval {
                Some(range) => format!(
                    "{} ({} by order statistics: {}–{})",
                    short(figure.p50),
                    level(range.level),
                    short(range.low),
                    short(range.high)
                ),
                None => format!("{}, of which six runs would tell an interval", short(figure.p50)),
            };
            Some(format!(
                "{name} is skewed over these {} (skewness {skewness:.1}): the interval of its mean misses more often than it \
                 says; look at the median, {median}, or take {} repeats",
                counted(figure.count as u64, "run"),
                thousands(enough)
            ))
        })
        .collect()
}

/// The same for a result file.
pub(crate) fn to_json(figures: &[(&'static str, Summary)]) -> Value {
    let object = figures.iter().map(|(path, figure)| ((*path).to_owned(), figure_to_json(figure)));
    Value::Object(object.collect::<Map<_, _>>())
}

/// One figure over seeds.
pub(crate) fn figure_to_json(figure: &Summary) -> Value {
    let told = |interval: Interval| {
        let estimator = match interval.estimator {
            Estimator::StudentT => "student-t",
            Estimator::Bootstrap => "bca-bootstrap",
            Estimator::OrderStatistics => "order-statistics",
        };
        json!({ "low": interval.low, "high": interval.high, "level": interval.level.coverage(), "by": estimator })
    };
    json!({
        "count": figure.count, "mean": figure.mean, "sd": figure.deviation, "min": figure.min, "p5": figure.p5,
        "p25": figure.p25, "p50": figure.p50, "p75": figure.p75, "p95": figure.p95, "max": figure.max,
        "interval": figure.interval.map(told), "skewness": figure.skewness,
        "skewed": figure.too_skewed().is_some(), "median_interval": figure.median_interval.map(told),
    })
}
