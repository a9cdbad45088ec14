//! One run out of a result file: only what is shown.

use serde_json::Value;

use super::reading::{
    Wrong, as_number, count, each, list, look, missing, needed_number, number, object, text,
};
use super::recorded::{Recorded, numbers};

/// The newest schema that this program reads.
const SCHEMA_VERSION: u64 = 1;

/// A finished run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) mode: String,
    pub(super) strategy: String,
    pub(super) seed: u64,
    pub(super) ops: u64,
    pub(super) succeeded: u64,
    pub(super) given_up: u64,
    pub(super) attempts: f64,
    pub(super) amplification: Option<f64>,
    pub(super) efficiency: Option<f64>,
    pub(super) makespan_s: Option<f64>,
    pub(super) complete: bool,
    pub(super) optimal_s: Option<f64>,
    /// Shares of ops and the latency below which they lie, in milliseconds.
    pub(super) op_latency_ms: Vec<(f64, f64)>,
    pub(super) stalled: bool,
    pub(super) interrupted: bool,
    pub(super) warnings: Vec<String>,
    pub(super) series: Vec<Point>,
    pub(super) gauges: Vec<Gauge>,
    pub(super) recorded: Recorded,
    /// All that was read.
    pub(super) raw: Value,
}

/// A bucket of the series. Gauges that are not there are not a number.
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

/// What a strategy has drawn under a name of its own, over time.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    pub(super) name: String,
    pub(super) unit: String,
    /// A value for every point of the series; not a number where there is none.
    pub(super) values: Vec<f64>,
}

impl Run {
    /// Reads one run.
    pub(super) fn read(raw: &Value) -> Result<Self, Wrong> {
        known_version(raw)?;
        object(raw, "config")?;
        object(raw, "op_latency_ms")?;
        let complete = look(raw, "makespan_complete").ok_or_else(|| missing("makespan_complete"))?;
        let complete = complete.as_bool();
        let (ops, succeeded) = (count(raw, "ops.total")?, count(raw, "ops.succeeded")?);
        if succeeded > ops {
            return Err(Wrong::new("ops.succeeded", format!("{succeeded} are more than there were: {ops}")));
        }
        let positive = |path| Ok(number(raw, path)?.filter(|value| *value >= 0.0));
        Ok(Self {
            mode: text(raw, "mode")?,
            strategy: text(raw, "strategy")?,
            seed: count(raw, "seed")?,
            ops,
            succeeded,
            given_up: count(raw, "ops.given_up")?,
            attempts: count(raw, "attempts.total")? as f64,
            amplification: positive("amplification")?,
            efficiency: positive("efficiency")?,
            makespan_s: positive("makespan_s")?,
            complete: complete.ok_or_else(|| Wrong::new("makespan_complete", "is neither true nor false"))?,
            optimal_s: positive("optimal_makespan_s")?,
            op_latency_ms: percentiles(raw)?,
            stalled: look(raw, "stalled_at_s").is_some(),
            interrupted: look(raw, "interrupted").is_some(),
            warnings: each(raw, "warnings", |warning| {
                warning.as_str().map(ToOwned::to_owned).ok_or_else(|| Wrong::new("", "is no text"))
            })?,
            series: series(raw)?,
            gauges: gauges(raw)?,
            recorded: Recorded::read(raw)?,
            raw: raw.clone(),
        })
    }

    /// The end of the series.
    pub(super) fn end_s(&self) -> f64 {
        self.series.last().map_or(0.0, |last| last.t_s + self.width_s())
    }

    /// The width of a bucket of the series.
    pub(super) fn width_s(&self) -> f64 {
        match self.series.as_slice() {
            [first, second, ..] => second.t_s - first.t_s,
            _ => 0.01,
        }
    }

    /// By what share the makespan is above the lower bound, where all was done and there is one.
    pub(super) fn over_bound(&self) -> Option<f64> {
        let (makespan, bound) = (self.makespan_s.filter(|_| self.complete)?, self.optimal_s?);
        (bound > 0.0).then(|| makespan / bound - 1.0)
    }

    /// A latency figure of the ops, in milliseconds.
    pub(super) fn latency_ms(&self, share: f64) -> Option<f64> {
        self.op_latency_ms.iter().find(|(there, _)| (there - share).abs() < 1e-9).map(|(_, ms)| *ms)
    }
}

/// Refuses what a later program wrote.
pub(super) fn known_version(raw: &Value) -> Result<(), Wrong> {
    let what = match count(raw, "schema_version")? {
        SCHEMA_VERSION => return Ok(()),
        0 => "0 does not exist".to_owned(),
        newer => format!("{newer} is newer than this program, which reads up to {SCHEMA_VERSION}"),
    };
    Err(Wrong::new("schema_version", what))
}

/// The curve of op latencies: ops that did not succeed are not part of it.
fn percentiles(raw: &Value) -> Result<Vec<(f64, f64)>, Wrong> {
    const SHARES: [(&str, f64); 7] = [
        ("min", 0.0),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p90", 0.9),
        ("p95", 0.95),
        ("p99", 0.99),
        ("p999", 0.999),
    ];
    let ops = number(raw, "op_latency_ms.count")?.unwrap_or(0.0);
    // A curve shows no more than was measured: of 50 ops, nobody knows the 99.9th percentile.
    let last = 1.0 - 0.5 / ops.max(1.0);
    let mut points = Vec::new();
    for (key, share) in SHARES {
        if let Some(ms) = number(raw, &format!("op_latency_ms.{key}"))?.filter(|_| share < last) {
            points.push((share, ms.max(0.0)));
        }
    }
    if let Some(ms) = number(raw, "op_latency_ms.max")? {
        points.push((last, ms.max(0.0)));
    }
    for [share, ms] in curve(raw)? {
        let known = points.iter().any(|(there, _)| (there - share).abs() < 1e-9);
        if !known && (0.0..last).contains(&share) {
            points.push((share, ms.max(0.0)));
        }
    }
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(points)
}

/// More of the curve than the figures tell.
fn curve(raw: &Value) -> Result<Vec<[f64; 2]>, Wrong> {
    each(raw, "op_latency_curve", |point| match point.as_array().map(Vec::as_slice) {
        Some([share, ms]) => Ok([as_number(share, "[0]")?, as_number(ms, "[1]")?]),
        _ => Err(Wrong::new("", "is no pair of a share and a latency")),
    })
}

fn series(raw: &Value) -> Result<Vec<Point>, Wrong> {
    if let Some(columns) = look(raw, "series").filter(|series| series.is_object()) {
        return by_columns(columns).map_err(|wrong| wrong.within("series"));
    }
    let points = each(raw, "series", |point| {
        let gauge = |key| Ok(number(point, key)?.filter(|value| *value >= 0.0).unwrap_or(f64::NAN));
        let counted = |key| Ok(number(point, key)?.unwrap_or(0.0).max(0.0));
        Ok(Point {
            t_s: needed_number(point, "t_s")?,
            sent: counted("sent")?,
            succeeded: counted("succeeded")?,
            rejected: counted("rejected")?,
            in_flight: gauge("in_flight")?,
            window: gauge("window")?,
            ssthresh: gauge("ssthresh")?,
            cap: gauge("server_cap")?,
        })
    })?;
    for (index, pair) in points.windows(2).enumerate() {
        if pair[0].t_s < 0.0 || pair[1].t_s <= pair[0].t_s {
            return Err(Wrong::new(
                &format!("series[{}].t_s", index + 1),
                "does not come after the one before",
            ));
        }
    }
    Ok(points)
}

/// What strategies have drawn besides, in either form of the series.
fn gauges(raw: &Value) -> Result<Vec<Gauge>, Wrong> {
    let named = |raw| Ok(Gauge { name: text(raw, "name")?, unit: text(raw, "unit")?, values: Vec::new() });
    if let Some(columns) = look(raw, "series").filter(|series| series.is_object()) {
        let gauge = |raw| Ok(Gauge { values: numbers(raw, "values")?, ..named(raw)? });
        return each(columns, "gauges", gauge).map_err(|wrong| wrong.within("series"));
    }
    let points = list(raw, "series")?;
    let mut gauges = points.first().map_or(Ok(Vec::new()), |first| each(first, "gauges", named))?;
    for point in points {
        let values = each(point, "gauges", |gauge| number(gauge, "value"))?;
        for (gauge, value) in gauges.iter_mut().zip(values) {
            gauge.values.push(value.unwrap_or(f64::NAN));
        }
    }
    Ok(gauges)
}

/// The series in its compact form: a list for every key, and the width of a bucket.
fn by_columns(raw: &Value) -> Result<Vec<Point>, Wrong> {
    let step_s = needed_number(raw, "step_s")?;
    if step_s <= 0.0 {
        return Err(Wrong::new("step_s", "is not above zero"));
    }
    let column = |key| numbers(raw, key);
    let [sent, succeeded, rejected] = [column("sent")?, column("succeeded")?, column("rejected")?];
    let [in_flight, window] = [column("in_flight")?, column("window")?];
    let [ssthresh, cap] = [column("ssthresh")?, column("server_cap")?];
    let counted = |column: &[f64], index: usize| column.get(index).copied().unwrap_or(0.0).max(0.0);
    let gauge = |column: &[f64], index: usize| {
        column.get(index).copied().filter(|value| *value >= 0.0).unwrap_or(f64::NAN)
    };
    let point = |index: usize| Point {
        t_s: index as f64 * step_s,
        sent: counted(&sent, index),
        succeeded: counted(&succeeded, index),
        rejected: counted(&rejected, index),
        in_flight: gauge(&in_flight, index),
        window: gauge(&window, index),
        ssthresh: gauge(&ssthresh, index),
        cap: gauge(&cap, index),
    };
    Ok((0..sent.len()).map(point).collect())
}
