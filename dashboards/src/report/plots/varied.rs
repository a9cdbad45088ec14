//! Plots of figures against a setting that an experiment varied, such as the number of ops, clients or submitters.

use std::collections::{BTreeMap, BTreeSet};

use results::{Cell, Setting, WorkloadRecord};

use super::capitalised;
use super::summary::axis;
use crate::report::cell::{OverSeeds, number_of};
use crate::report::{Axis, Document, LOOKS, Plot, Run, Scale, Series};
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
    let mut plots =
        both(document, "ops", "attempts.total", "Attempts against ops", |run| Some(run.attempts()));
    for plot in &mut plots {
        (plot.x.scale, plot.y.scale) = (Scale::Logarithmic, Scale::Logarithmic);
    }
    plots
}

pub(in crate::report) fn efficiency_by_ops(document: &Document) -> Vec<Plot> {
    let mut plots = both(document, "ops", "efficiency", "Efficiency against ops", Run::efficiency);
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
    let title = "Completion against clients";
    let mut plots = both(document, "clients", "makespan_s", title, Run::complete_makespan_s);
    plots.extend(by_cells(document, "clients", "server.received", "Calls received against clients"));
    plots
}

pub(in crate::report) fn jobs_by_submitters(document: &Document) -> Vec<Plot> {
    let chosen = by_columns(document, Some("in_flight"));
    if !chosen.is_empty() {
        return chosen;
    }
    let done = |run: &Run| Some(run.result.ops.succeeded as f64);
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
            if number_of(setting).is_some() {
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
        let is_number = |(key, setting): (&String, &Setting)| number_of(setting).map(|_| key.clone());
        let first = scenario.cells.first().and_then(|cell| cell.at.iter().find_map(is_number));
        let Some(key) = key.map(ToOwned::to_owned).or(first) else { continue };
        let labels: BTreeSet<&str> = scenario.cells.iter().map(|cell| cell.label.as_str()).collect();
        for column in &scenario.columns {
            let mut lines = Lines::default();
            for cell in &scenario.cells {
                let x = cell.at.get(&key).and_then(number_of);
                let Some((x, seeds)) = x.zip(OverSeeds::in_column(cell, column)) else { continue };
                lines.add(label(cell, &key, labels.len() == 1), x, seeds);
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
    let mut plots = Vec::new();
    for scenario in document.unplotted() {
        let experiments: BTreeSet<&str> =
            scenario.cells.iter().map(|cell| cell.experiment.as_str()).collect();
        for experiment in experiments {
            let mut lines = Lines::default();
            for cell in scenario.cells.iter().filter(|cell| cell.experiment == experiment) {
                let x = cell.at.get(key).and_then(number_of);
                let Some((x, seeds)) = x.zip(OverSeeds::new(cell, figure, 0.0, 1.0)) else { continue };
                lines.add(label(cell, key, false), x, seeds);
            }
            let place = match scenario.name.as_str() {
                "" => String::new(),
                _ if scenario.sweep.is_some() => String::new(),
                name => format!("{name}, experiment {experiment}; "),
            };
            let note = format!("{place}mean, and 5th to 95th percentile of the seeds");
            plots.extend(lines.plot(title, key, figure, note));
        }
    }
    plots
}

/// Returns the name of a cell's line in a plot against `key`: the label and the other settings. If all lines of the plot
/// have the same label, their names do not contain it, because it does not distinguish the lines.
fn label(cell: &Cell, key: &str, is_only_label: bool) -> String {
    let others = cell.at.iter().filter(|(other, _)| *other != key).map(|(other, setting)| {
        let value = number_of(setting).map_or_else(|| setting.to_string(), |number| number.to_string());
        format!("{other} {value}")
    });
    let others = others.collect::<Vec<_>>().join(", ");
    match others.as_str() {
        "" => cell.label.clone(),
        _ if is_only_label => others,
        _ => format!("{}, {others}", cell.label),
    }
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
        let x = of_workload(&run.result.config.workload, key);
        let values = strategy.values(&of);
        let (Some(x), Some(middle)) = (x, percentile(&values, 0.5)) else { continue };
        let end = |share| percentile(&values, share).unwrap_or(middle);
        let over_runs = OverSeeds { mean: middle, p5: end(0.05), p95: end(0.95) };
        lines.add(run.result.strategy.clone(), x, over_runs);
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

/// Points of a line. The key is the bit pattern of x, so that the points are ordered by x.
type ByX = BTreeMap<u64, OverSeeds>;

impl Lines {
    fn add(&mut self, label: String, x: f64, y: OverSeeds) {
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
        let ((x, x_unit), (y, mut y_unit)) = (name(key), name(figure));
        let series = self.0.into_iter().take(LOOKS).enumerate().map(|(look, (label, points))| {
            let points: Vec<_> = points.into_iter().map(|(x, y)| (f64::from_bits(x), y)).collect();
            OverSeeds::line(&label, look, &points)
        });
        let mut series: Vec<Series> = series.collect();
        if y_unit == "ms" {
            // Latencies are easier to read in seconds.
            for series in &mut series {
                series.convert(1.0, 1e3);
            }
            y_unit = "s";
        }
        let x = far_apart(Axis::linear(&x, x_unit), &series);
        Plot::new(title, x, Axis::linear(&y, y_unit), series, note)
    }
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
