//! Formatting of a strategy's numbers. A lane shows a strategy in several rows, and the table shows it in one row. Both
//! format the numbers in the same way.

use loadgen_core::Snapshot;

use crate::figures::{Progress, advised};
use crate::{Column, Lane, Lanes, Spread, Unit, text};

pub(crate) fn value(column: Column, value: f64) -> String {
    match column.unit {
        Unit::Seconds => text::seconds(value),
        Unit::Count => text::count(text::whole(value)),
        Unit::Plain if value < 10.0 => format!("{value:.3}"),
        Unit::Plain => text::short(value),
    }
}

pub(crate) fn range(column: Column, spread: Spread) -> Option<String> {
    let (low, high) = (value(column, spread.low), value(column, spread.high));
    (low != high).then(|| format!("{low} – {high}"))
}

pub(crate) fn highest(lanes: &Lanes, column: usize) -> f64 {
    let medians = lanes.lanes.iter().filter_map(|lane| lane.figures.get(column).copied().flatten());
    medians.fold(0.0, |highest, spread| spread.median.max(highest))
}

pub(crate) fn share(lane: &Lane) -> f64 {
    let part = lane.going_on().and_then(|frame| Progress::new(&frame.snapshot).share());
    let done = lane.done as f64 + part.unwrap_or(0.0);
    if lane.runs == 0 { 0.0 } else { (done / lane.runs as f64).min(1.0) }
}

pub(crate) fn runs(part: usize, whole: usize) -> String {
    format!("{} of {} runs", text::count(part as u64), text::count(whole as u64))
}

pub(crate) fn mark(lane: &Lane) -> &'static str {
    match lane {
        lane if lane.running => "▶",
        lane if lane.runs > 0 && lane.done >= lane.runs => "✓",
        _ => " ",
    }
}

/// Describes the run in progress in short texts, the most informative one first.
pub(crate) fn now(snapshot: &Snapshot) -> Vec<String> {
    if let Some(advised) = advised(snapshot).filter(|_| snapshot.in_flight == 0) {
        return vec![format!("  {advised}")];
    }
    let ops = Progress::new(snapshot).ops_text();
    let mut words =
        vec![format!("  {ops:>15}"), format!("attempts {:>6}", text::count(snapshot.attempts.total))];
    words.extend(snapshot.gauges.window.map(|window| format!("window {:>3}", text::short(window))));
    words.push(format!("in flight {:>3}", text::count(snapshot.in_flight)));
    words
}
