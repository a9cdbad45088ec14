//! One run of a result file, reduced to the data that reports show.

use loadgen_core::LatencyFigures;
use results::{Columns, DrawnRun, GaugeColumn, GaugePoint, RunResult, SeriesPoint, WrittenRun};

#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) mode: String,
    pub(super) strategy: String,
    pub(super) seed: u64,
    /// Number of ops to which shares of ops refer. It is the number of offered ops or, if that number is unknown, the
    /// number of ops that arrived.
    pub(super) ops: u64,
    pub(super) succeeded: u64,
    pub(super) given_up: u64,
    pub(super) attempts: f64,
    pub(super) amplification: Option<f64>,
    pub(super) efficiency: Option<f64>,
    pub(super) makespan_s: Option<f64>,
    pub(super) complete: bool,
    pub(super) optimal_s: Option<f64>,
    /// Latency percentiles as pairs: a share of ops, and the latency in milliseconds that this share of ops does not
    /// exceed.
    pub(super) op_latency_ms: Vec<(f64, f64)>,
    pub(super) stalled: bool,
    pub(super) interrupted: bool,
    pub(super) warnings: Vec<String>,
    pub(super) series: Vec<Point>,
    pub(super) gauges: Vec<Gauge>,
    /// Run with the data that `loadgen reproduce` recorded for plots, because no summary contains it.
    pub(super) recorded: Option<Box<DrawnRun>>,
    /// Whole result of the run; `None` if the output of `loadgen reproduce` contains only a part of it.
    pub(super) result: Option<Box<RunResult>>,
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

#[derive(Clone, Debug)]
pub(super) struct Gauge {
    pub(super) name: String,
    pub(super) unit: String,
    /// Values of the gauge, one per point of the time series; NaN for missing values.
    pub(super) values: Vec<f64>,
}

impl Run {
    pub(super) fn new(result: RunResult, written: WrittenRun) -> Self {
        Self {
            mode: result.mode.name().to_owned(),
            strategy: result.strategy.clone(),
            seed: result.seed,
            ops: result.ops.share_base(),
            succeeded: result.ops.succeeded,
            given_up: result.ops.given_up,
            attempts: result.attempts.total as f64,
            amplification: positive(result.amplification),
            efficiency: positive(result.efficiency),
            makespan_s: positive(result.makespan_s),
            complete: result.makespan_complete,
            optimal_s: positive(result.optimal_makespan_s),
            op_latency_ms: percentiles(&result.op_latency_ms, &result.op_latency_curve),
            stalled: result.stalled_at_s.is_some(),
            interrupted: result.interrupted.is_some(),
            warnings: result.warnings.clone(),
            series: result.series.iter().map(Point::new).collect(),
            gauges: gauges(&result.series),
            recorded: None,
            result: Some(Box::new(result)),
            written,
        }
    }

    #[cfg(test)]
    pub(super) fn read(run: &serde_json::Value) -> Self {
        let text = run.to_string();
        Self::new(results::read(&text).expect("it is a run"), results::read(&text).expect("it is a run"))
    }

    pub(super) fn drawn(run: &DrawnRun) -> Self {
        Self {
            mode: run.mode.name().to_owned(),
            strategy: run.strategy.clone(),
            seed: run.seed,
            ops: run.ops.share_base(),
            succeeded: run.ops.succeeded,
            given_up: run.ops.given_up,
            attempts: run.attempts.total as f64,
            amplification: positive(run.amplification),
            efficiency: positive(run.efficiency),
            makespan_s: positive(run.makespan_s),
            complete: run.makespan_complete,
            optimal_s: positive(run.optimal_makespan_s),
            op_latency_ms: percentiles(&run.op_latency_ms, &[]),
            stalled: run.stalled_at_s.is_some(),
            interrupted: false,
            warnings: Vec::new(),
            series: run.series.as_ref().map(by_columns).unwrap_or_default(),
            gauges: run.series.iter().flat_map(|columns| &columns.gauges).map(Gauge::new).collect(),
            recorded: Some(Box::new(run.clone())),
            result: None,
            written: WrittenRun::default(),
        }
    }

    /// Returns the share of ops that succeeded, whether in time or late.
    pub(super) fn share_done(&self) -> Option<f64> {
        (self.ops > 0).then(|| self.succeeded as f64 / self.ops as f64)
    }

    /// True if the run was stopped before all ops had ended. The share of ops done is then only a lower bound.
    pub(super) fn share_is_lower_bound(&self) -> bool {
        match &self.result {
            Some(result) => result.share_is_lower_bound,
            None => self.stalled && self.succeeded.saturating_add(self.given_up) < self.ops,
        }
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
        let (makespan, bound) = (self.makespan_s.filter(|_| self.complete)?, self.optimal_s?);
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

impl Gauge {
    fn new(column: &GaugeColumn) -> Self {
        let values = column.values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        Self { name: column.name.clone(), unit: column.unit.clone(), values }
    }
}

fn gauges(series: &[SeriesPoint]) -> Vec<Gauge> {
    let drawn = series.first().map_or(&[][..], |first| &first.gauges);
    let values = |index: usize| {
        let value = |point: &SeriesPoint| point.gauges.get(index).and_then(|gauge| gauge.value);
        series.iter().map(|point| value(point).unwrap_or(f64::NAN)).collect()
    };
    let gauge = |(index, gauge): (usize, &GaugePoint)| Gauge {
        name: gauge.name.clone(),
        unit: gauge.unit.clone(),
        values: values(index),
    };
    drawn.iter().enumerate().map(gauge).collect()
}

fn positive(value: Option<f64>) -> Option<f64> {
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
