//! One run of a result file, reduced to the data that reports show.

use loadgen_core::LatencyFigures;
use results::{Columns, DrawnRun, GaugeColumn, GaugePoint, OpLatencies, RunResult, SeriesPoint, WrittenRun};

#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Result of the run. If the run is from the output of `loadgen reproduce`, the result has only the parts that plots
    /// need.
    pub(super) result: RunResult,
    /// Latency percentiles as pairs: a share of ops, and the latency in milliseconds that this share of ops does not
    /// exceed.
    pub(super) op_latency_ms: Vec<(f64, f64)>,
    pub(super) series: Vec<Point>,
    /// Gauges of the strategy, with one value per point of the time series.
    pub(super) gauges: Vec<GaugeColumn>,
    /// Run with the data that `loadgen reproduce` recorded for plots, because no summary contains it.
    pub(super) recorded: Option<DrawnRun>,
    pub(super) written: WrittenRun,
}

/// Bucket of a run's time series. Missing gauges are NaN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) t_s: f64,
    pub(super) sent: f64,
    pub(super) succeeded: f64,
    pub(super) rejected: f64,
    pub(super) in_flight: f64,
    pub(super) window: f64,
    pub(super) ssthresh: f64,
    pub(super) cap: f64,
}

impl Run {
    pub(super) fn new(result: RunResult, written: WrittenRun) -> Self {
        Self {
            op_latency_ms: percentiles(&result.op_latency_ms, &result.op_latency_curve),
            series: result.series.iter().map(Point::new).collect(),
            gauges: gauges(&result.series),
            recorded: None,
            result,
            written,
        }
    }

    #[cfg(test)]
    pub(super) fn read(run: &serde_json::Value) -> Self {
        let text = run.to_string();
        Self::new(results::read(&text).expect("it is a run"), results::read(&text).expect("it is a run"))
    }

    pub(super) fn drawn(run: DrawnRun) -> Self {
        let result = RunResult {
            seed: run.seed,
            ops: run.ops,
            attempts: run.attempts,
            makespan_s: run.makespan_s,
            makespan_complete: run.makespan_complete,
            optimal_makespan_s: run.optimal_makespan_s,
            stalled_at_s: run.stalled_at_s,
            op_latency_ms: OpLatencies { figures: run.op_latency_ms, histogram: None },
            ..RunResult::default()
        };
        Self {
            series: run.series.as_ref().map(by_columns).unwrap_or_default(),
            gauges: run.series.iter().flat_map(|columns| columns.gauges.clone()).collect(),
            recorded: Some(run),
            ..Self::new(result, WrittenRun::default())
        }
    }

    pub(super) fn attempts(&self) -> f64 {
        self.result.attempts.total as f64
    }

    pub(super) fn efficiency(&self) -> Option<f64> {
        positive(self.result.efficiency)
    }

    pub(super) fn makespan_s(&self) -> Option<f64> {
        positive(self.result.makespan_s)
    }

    pub(super) fn complete_makespan_s(&self) -> Option<f64> {
        self.makespan_s().filter(|_| self.result.makespan_complete)
    }

    pub(super) fn optimal_s(&self) -> Option<f64> {
        positive(self.result.optimal_makespan_s)
    }

    /// Returns the share of ops that succeeded, whether in time or late.
    pub(super) fn share_done(&self) -> Option<f64> {
        self.result.ops.share(self.result.ops.succeeded)
    }

    pub(super) fn end_s(&self) -> f64 {
        self.series.last().map_or(0.0, |last| last.t_s + self.width_s())
    }

    /// Returns the width in seconds of a bucket of the time series; 0.01 s if there are fewer than two buckets.
    pub(super) fn width_s(&self) -> f64 {
        match self.series.as_slice() {
            [first, second, ..] => second.t_s - first.t_s,
            _ => 0.01,
        }
    }

    /// Returns the difference between the makespan and its lower bound, as a share of the bound. `None` for incomplete
    /// runs, and for runs without a bound.
    pub(super) fn over_bound(&self) -> Option<f64> {
        let (makespan, bound) = (self.complete_makespan_s()?, self.optimal_s()?);
        (bound > 0.0).then(|| makespan / bound - 1.0)
    }

    pub(super) fn latency_ms(&self, share: f64) -> Option<f64> {
        self.op_latency_ms.iter().find(|(there, _)| (there - share).abs() < 1e-9).map(|(_, ms)| *ms)
    }
}

impl Point {
    fn new(point: &SeriesPoint) -> Self {
        Self {
            t_s: point.t_s,
            sent: f64::from(point.sent),
            succeeded: f64::from(point.succeeded),
            rejected: f64::from(point.rejected),
            in_flight: gauge(point.in_flight),
            window: gauge(point.window),
            ssthresh: gauge(point.ssthresh),
            cap: gauge(point.server_cap),
        }
    }
}

fn gauges(series: &[SeriesPoint]) -> Vec<GaugeColumn> {
    let drawn = series.first().map_or(&[][..], |first| &first.gauges);
    let gauge = |(index, gauge): (usize, &GaugePoint)| GaugeColumn {
        name: gauge.name.clone(),
        unit: gauge.unit.clone(),
        values: series.iter().map(|point| point.gauges.get(index)?.value).collect(),
    };
    drawn.iter().enumerate().map(gauge).collect()
}

/// Returns the value unless it is negative, as no run can have it.
pub(super) fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value >= 0.0)
}

fn gauge(value: Option<f64>) -> f64 {
    positive(value).unwrap_or(f64::NAN)
}

fn percentiles(figures: &LatencyFigures, curve: &[[f64; 2]]) -> Vec<(f64, f64)> {
    let shares = [
        (figures.min, 0.0),
        (figures.p50, 0.5),
        (figures.p75, 0.75),
        (figures.p90, 0.9),
        (figures.p95, 0.95),
        (figures.p99, 0.99),
        (figures.p999, 0.999),
    ];
    // The latency curve ends at the highest percentile that the number of ops supports. For example, 50 ops have no
    // 99.9th percentile.
    let last = 1.0 - 0.5 / (figures.count as f64).max(1.0);
    let mut points: Vec<(f64, f64)> = shares
        .into_iter()
        .filter(|(_, share)| *share < last)
        .filter_map(|(ms, share)| Some((share, ms?.max(0.0))))
        .collect();
    points.extend(figures.max.map(|ms| (last, ms.max(0.0))));
    for [share, ms] in curve {
        let known = points.iter().any(|(there, _)| (there - share).abs() < 1e-9);
        if !known && (0.0..last).contains(share) {
            points.push((*share, ms.max(0.0)));
        }
    }
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    points
}

fn by_columns(columns: &Columns) -> Vec<Point> {
    let count = |column: &[u64], index: usize| column.get(index).map_or(0.0, |count| *count as f64);
    let last = |column: &Option<Vec<Option<f64>>>, index: usize| {
        gauge(column.as_ref().and_then(|column| column.get(index).copied().flatten()))
    };
    let point = |index: usize| Point {
        t_s: index as f64 * columns.step_s,
        sent: count(&columns.sent, index),
        succeeded: count(&columns.succeeded, index),
        rejected: count(&columns.rejected, index),
        in_flight: last(&columns.in_flight, index),
        window: last(&columns.window, index),
        ssthresh: last(&columns.ssthresh, index),
        cap: last(&columns.server_cap, index),
    };
    (0..columns.sent.len()).map(point).collect()
}
