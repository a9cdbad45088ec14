//! Plots of figures against a setting that an experiment varied, such as the number of ops, clients or submitters.

use std::collections::{BTreeMap, BTreeSet};

use results::WorkloadRecord;

use super::capitalised;
use super::summary::axis;
use crate::report::cell::{Cell, Setting};
use crate::report::document::Document;
use crate::report::experiment::Scenario;
use crate::report::palette::LOOKS;
use crate::report::plot::{Axis, Plot, Scale, Series};
use crate::report::run::Run;
use statistics::percentile;

/// Pairs of a varied key and a figure that have a plot of their own in the registry.
const NAMED: [(&str, &str); 6] = [
    ("ops", "attempts.total"),
    ("ops", "efficiency"),
    ("clients", "makespan_s"),
    ("clients", "server.received"),
    ("in_flight", "ops.succeeded"),
    ("clients", "ops.succeeded"),
];

pub(in crate::report) fn attempts_by_ops(document: &Document) -> Vec<Plot> {
    let mut plots = both(document, "ops", "attempts.total", "Attempts against ops", |run| Some(run.attempts));
    for plot in &mut plots {
        (plot.x.scale, plot.y.scale) = (Scale::Logarithmic, Scale::Logarithmic);
    }
    plots
}

pub(in crate::report) fn efficiency_by_ops(document: &Document) -> Vec<Plot> {
    let mut plots = both(document, "ops", "efficiency", "Efficiency against ops", |run| run.efficiency);
    for plot in &mut plots {
        plot.x.scale = Scale::Logarithmic;
    }
    plots
}

pub(in crate::report) fn completion_by_clients(document: &Document) -> Vec<Plot> {
    let chosen = by_columns(document, Some("clients"));
    if !chosen.is_empty() {
        return chosen;
    }
    let makespan = |run: &Run| run.makespan_s.filter(|_| run.complete);
    let mut plots = both(document, "clients", "makespan_s", "Completion against clients", makespan);
    plots.extend(by_cells(document, "clients", "server.received", "Calls received against clients"));
    plots
}

pub(in crate::report) fn jobs_by_submitters(document: &Document) -> Vec<Plot> {
    let chosen = by_columns(document, Some("in_flight"));
    if !chosen.is_empty() {
        return chosen;
    }
    let done = |run: &Run| Some(run.succeeded as f64);
    let mut plots = both(document, "in_flight", "ops.succeeded", "Jobs done against submitters", done);
    for plot in &mut plots {
        "submitters".clone_into(&mut plot.x.label);
        "jobs done".clone_into(&mut plot.y.label);
    }
    plots
}

pub(in crate::report) fn all_else(document: &Document) -> Vec<Plot> {
    let chosen = by_columns(document, None);
    if !chosen.is_empty() {
        return chosen;
    }
    let mut wanted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for cell in document.unplotted().flat_map(|scenario| &scenario.cells) {
        for (key, setting) in &cell.at {
            if matches!(setting, Setting::Number(_)) {
                wanted.extend(cell.figures.keys().map(|figure| (key.as_str(), figure.as_str())));
            }
        }
    }
    wanted.retain(|named| !NAMED.contains(named));
    let title = |key, figure| capitalised(&format!("{} against {}", name(figure).0, name(key).0));
    wanted
        .into_iter()
        .flat_map(|(key, figure)| by_cells(document, key, figure, &title(key, figure)))
        .collect()
}

/// Draws a plot for every selected column, against the setting `key`. Without a key, the plots are drawn against the
/// first numeric setting.
fn by_columns(document: &Document, key: Option<&str>) -> Vec<Plot> {
    let mut plots = Vec::new();
    for scenario in document.unplotted() {
        let is_number =
            |(key, setting): (&String, &Setting)| matches!(setting, Setting::Number(_)).then(|| key.clone());
        let first = scenario.cells.first().and_then(|cell| cell.at.iter().find_map(is_number));
        let Some(key) = key.map(ToOwned::to_owned).or(first) else { continue };
        let labels: BTreeSet<&str> = scenario.cells.iter().map(|cell| cell.label.as_str()).collect();
        let named = |cell: &Cell| match others(cell, &key) {
            // If all lines of the plot have the same label, their names do not contain it, because it does not
            // distinguish the lines.
            others if labels.len() == 1 && !others.is_empty() => others,
            others if others.is_empty() => cell.label.clone(),
            others => format!("{}, {others}", cell.label),
        };
        for column in &scenario.columns {
            let mut lines = Lines::default();
            for cell in &scenario.cells {
                let (Some(Setting::Number(x)), Some(seeds)) = (cell.at.get(&key), cell.value(column)) else {
                    continue;
                };
                lines.add(named(cell), *x, (seeds.mean, seeds.p5, seeds.p95));
            }
            let title = capitalised(&format!("{} against {}", column.title, name(&key).0));
            let note = "mean, and 5th to 95th percentile of the seeds".to_owned();
            plots.extend(lines.plot(&title, &key, "", note).map(|plot| Plot {
                // The axis is labelled with the column's title, which already contains the quantity and its unit.
                y: axis(column),
                ..plot
            }));
        }
    }
    plots
}

fn both(
    document: &Document,
    key: &str,
    figure: &str,
    title: &str,
    of: impl Fn(&Run) -> Option<f64>,
) -> Vec<Plot> {
    let mut plots = by_cells(document, key, figure, title);
    plots.extend(by_runs(document, key, figure, title, of));
    plots
}

fn by_cells(document: &Document, key: &str, figure: &str, title: &str) -> Vec<Plot> {
    let experiments = document.unplotted().flat_map(|scenario| {
        let names: BTreeSet<&str> = scenario.cells.iter().map(|cell| cell.experiment.as_str()).collect();
        names.into_iter().map(move |name| (scenario, name))
    });
    experiments
        .filter_map(|(scenario, experiment)| by_experiment(scenario, experiment, key, figure, title))
        .collect()
}

fn by_experiment(
    scenario: &Scenario,
    experiment: &str,
    key: &str,
    figure: &str,
    title: &str,
) -> Option<Plot> {
    let mut lines = Lines::default();
    for cell in scenario.cells.iter().filter(|cell| cell.experiment == experiment) {
        let (Some(Setting::Number(x)), Some(seeds)) = (cell.at.get(key), cell.figures.get(figure)) else {
            continue;
        };
        lines.add(label(cell, key), *x, (seeds.mean, seeds.p5, seeds.p95));
    }
    let place = match scenario.name.as_str() {
        "" => String::new(),
        _ if scenario.sweep.is_some() => String::new(),
        name => format!("{name}, experiment {experiment}; "),
    };
    let note = format!("{place}mean, and 5th to 95th percentile of the seeds");
    lines.plot(title, key, figure, note)
}

fn label(cell: &Cell, key: &str) -> String {
    match others(cell, key).as_str() {
        "" => cell.label.clone(),
        others => format!("{}, {others}", cell.label),
    }
}

fn others(cell: &Cell, key: &str) -> String {
    let others = cell.at.iter().filter(|(other, _)| *other != key).map(|(other, setting)| match setting {
        Setting::Number(number) => format!("{other} {number}"),
        Setting::Text(text) => format!("{other} {text}"),
    });
    others.collect::<Vec<_>>().join(", ")
}

fn by_runs(
    document: &Document,
    key: &str,
    figure: &str,
    title: &str,
    of: impl Fn(&Run) -> Option<f64>,
) -> Option<Plot> {
    let mut lines = Lines::default();
    for strategy in &document.strategies {
        let run = &strategy.runs[0];
        let x = run.result.as_ref().and_then(|result| of_workload(&result.config.workload, key));
        let values = strategy.values(&of);
        let (Some(x), Some(middle)) = (x, percentile(&values, 0.5)) else { continue };
        let end = |share| percentile(&values, share).unwrap_or(middle);
        lines.add(run.strategy.clone(), x, (middle, end(0.05), end(0.95)));
    }
    lines.plot(title, key, figure, "median, and 5th to 95th percentile of the runs".to_owned())
}

fn of_workload(workload: &WorkloadRecord, key: &str) -> Option<f64> {
    match key {
        "ops" => workload.ops.map(|ops| ops as f64),
        "in_flight" => workload.in_flight.map(f64::from),
        // The number of clients is 0 if a result file does not contain it.
        "clients" => Some(f64::from(workload.clients)).filter(|clients| *clients > 0.0),
        _ => None,
    }
}

#[derive(Default)]
struct Lines(Vec<(String, ByX)>);

/// Points of a line as (middle, low end, high end). The key is the bit pattern of x, so that the points are ordered by
/// x.
type ByX = BTreeMap<u64, (f64, f64, f64)>;

impl Lines {
    fn add(&mut self, label: String, x: f64, y: (f64, f64, f64)) {
        let index = self.0.iter().position(|(there, _)| *there == label).unwrap_or_else(|| {
            self.0.push((label, BTreeMap::new()));
            self.0.len() - 1
        });
        // The bit pattern of x serves as a sortable key. This works because bit patterns of non-negative floats have
        // the same order as the floats.
        self.0[index].1.insert(x.max(0.0).to_bits(), y);
    }

    fn plot(self, title: &str, key: &str, figure: &str, mut note: String) -> Option<Plot> {
        if self.0.iter().all(|(_, points)| points.len() < 2) {
            return None;
        }
        if self.0.len() > LOOKS {
            note = format!("{note}; the first {LOOKS} of {} lines", self.0.len());
        }
        let series = self.0.into_iter().take(LOOKS).enumerate().map(|(look, (label, points))| Series {
            band: points
                .iter()
                .filter(|(_, (_, low, high))| high > low)
                .map(|(x, (_, low, high))| (f64::from_bits(*x), *low, *high))
                .collect(),
            ..Series::line(&label, look, points.iter().map(|(x, y)| (f64::from_bits(*x), y.0)).collect())
        });
        let series: Vec<Series> = series.collect();
        let ((x, x_unit), (y, y_unit)) = (name(key), name(figure));
        let (series, y_unit) = if y_unit == "ms" { (in_seconds(series), "s") } else { (series, y_unit) };
        let (x, y) = (Axis::linear(&x, x_unit), Axis::linear(&y, y_unit));
        Plot { title: title.to_owned(), x: far_apart(x, &series), y, series, note }.if_any()
    }
}

/// Converts latencies from milliseconds to seconds, in which they are easier to read.
fn in_seconds(mut series: Vec<Series>) -> Vec<Series> {
    for series in &mut series {
        series.points.iter_mut().for_each(|(_, y)| *y /= 1e3);
        series.band.iter_mut().for_each(|(_, low, high)| (*low, *high) = (*low / 1e3, *high / 1e3));
    }
    series
}

/// Chooses the scale of an axis. The scale is logarithmic if the highest value is over 300 times the lowest. On a
/// linear axis, the values would then be crowded at the lower end. Otherwise, if over 40 % of the axis would be empty,
/// the scale does not start at zero.
fn far_apart(axis: Axis, series: &[Series]) -> Axis {
    let values = || series.iter().flat_map(|series| &series.points).map(|(x, _)| *x);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let scale = match () {
        () if low > 0.0 && high > 300.0 * low => Scale::Logarithmic,
        () if low > 0.4 * high => Scale::Fitted,
        () => axis.scale,
    };
    Axis { scale, ..axis }
}

fn name(path: &str) -> (String, &'static str) {
    let (stem, unit) = match path {
        _ if path.starts_with("op_latency_ms.") => return (format!("op latency {}", &path[14..]), "ms"),
        "strategy.cap" => return ("longest delay of the strategy".to_owned(), "s"),
        "attempts.total" => ("attempts", ""),
        "ops.succeeded" => ("ops done", ""),
        "server.received" => ("calls received", ""),
        "amplification" => ("attempts per op", ""),
        "in_flight" => ("ops in flight", ""),
        _ if path.ends_with("_ms") => (path.trim_end_matches("_ms"), "ms"),
        _ if path.ends_with("_per_s") => (path.trim_end_matches("_per_s"), "per s"),
        _ if path.ends_with("_s") => (path.trim_end_matches("_s"), "s"),
        other => (other, ""),
    };
    (stem.replace(['_', '.'], " "), unit)
}
