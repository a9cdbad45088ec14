//! Summary of a run for plots: the part of its result that plots need, and its time series as columns.

use results::{Columns, DrawnRun, GaugeColumn, GaugePoint, RunResult, SeriesPoint};

use crate::recording::rounded::rounded;

/// Returns the part of a result that plots need, with the label that the plot shows. The time series is not included. The configuration is
/// not included either, because the scenario determines it.
pub(super) fn outline(label: &str, result: &RunResult) -> DrawnRun {
    DrawnRun {
        label: label.to_owned(),
        schema_version: result.schema_version,
        mode: result.mode,
        strategy: result.strategy.clone(),
        seed: result.seed,
        ops: result.ops,
        attempts: result.attempts,
        amplification: result.amplification,
        efficiency: result.efficiency,
        makespan_s: result.makespan_s,
        makespan_complete: result.makespan_complete,
        optimal_makespan_s: result.optimal_makespan_s,
        stalled_at_s: result.stalled_at_s,
        op_latency_ms: result.op_latency_ms.figures,
        series: None,
        calls: None,
        clients: None,
        steps: None,
        waits: None,
    }
}

pub(super) fn columns(series: &[SeriesPoint]) -> Columns {
    let step_s = match series {
        [first, second, ..] => second.t_s - first.t_s,
        _ => 0.01,
    };
    let count = |of: fn(&SeriesPoint) -> u32| series.iter().map(|point| of(point).into()).collect();
    let gauge = |of: fn(&SeriesPoint) -> Option<f64>| {
        let values: Vec<Option<f64>> = series.iter().map(|point| of(point).map(rounded)).collect();
        values.iter().any(Option::is_some).then_some(values)
    };
    Columns {
        step_s: rounded(step_s),
        sent: count(|point| point.sent),
        succeeded: count(|point| point.succeeded),
        rejected: count(|point| point.rejected),
        in_flight: gauge(|point| point.in_flight),
        window: gauge(|point| point.window),
        ssthresh: gauge(|point| point.ssthresh),
        server_cap: gauge(|point| point.server_cap),
        gauges: drawn(series),
    }
}

fn drawn(series: &[SeriesPoint]) -> Vec<GaugeColumn> {
    let kinds = series.first().map_or(&[][..], |first| &first.gauges);
    let values = |index: usize| {
        let value = |point: &SeriesPoint| point.gauges.get(index)?.value.map(rounded);
        series.iter().map(value).collect()
    };
    let column = |(index, kind): (usize, &GaugePoint)| GaugeColumn {
        name: kind.name.clone(),
        unit: kind.unit.clone(),
        values: values(index),
    };
    kinds.iter().enumerate().map(column).collect()
}
