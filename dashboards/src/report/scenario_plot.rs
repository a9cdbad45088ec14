//! Plot that a scenario requests: the data to draw, the runs or cells to draw it from, and the texts and claims that
//! belong to the plot.

use results::{Cell, TimeUnit};

use super::{Axis, Document, Plot, Run, Scale, Scenario, Shape, Strategy, number};

#[derive(Clone, Debug)]
pub(super) struct ScenarioPlot {
    /// Plot as requested, without its runs: they are in `shown`.
    pub(super) plot: results::Plot,
    /// Runs and cells that the plot shows.
    pub(super) shown: Document,
    /// Labels of the strategies. The index of a label in this list determines the look of its strategy: colour, dash
    /// pattern and marker. Therefore a strategy looks the same in all plots of a scenario.
    looks: Vec<String>,
}

impl ScenarioPlot {
    pub(super) fn new(mut plot: results::Plot, cells: &[Cell]) -> Self {
        let mut looks: Vec<String> = Vec::new();
        for cell in cells {
            if !looks.contains(&cell.label) {
                looks.push(cell.label.clone());
            }
        }
        let own = plot.cells.iter().flatten().filter_map(|index| cells.get(*index));
        let scenario = Scenario {
            cells: own.cloned().collect(),
            columns: plot.columns.clone().unwrap_or_default(),
            ..Scenario::default()
        };
        let runs = plot.runs.take().into_iter().flatten();
        let shown = Document {
            strategies: runs.map(|run| Strategy::alone(run.label.clone(), Run::drawn(run))).collect(),
            scenarios: vec![scenario],
            ..Document::default()
        };
        Self { plot, shown, looks }
    }

    /// Makes the adjustments to a drawn plot that the scenario requests: time range, smoothing, scale and unit of time.
    pub(super) fn adjust(&self, plot: &mut Plot) {
        if let Some(smooth_s) = self.plot.smooth_s.filter(|smooth_s| *smooth_s > 0.0 && plot.x.unit == "s") {
            for series in plot.series.iter_mut().filter(|series| series.shape == Shape::Line) {
                series.points = averaged(&series.points, smooth_s);
            }
            plot.note = format!("{}; and averaged over {} s", plot.note, number(smooth_s));
        }
        if let Some(until_s) = self.plot.until_s.filter(|_| plot.x.unit == "s") {
            for series in &mut plot.series {
                series.points.retain(|(x, _)| *x <= until_s);
                series.band.retain(|(x, ..)| *x <= until_s);
            }
            plot.x.reaches = until_s;
            let note = format!("the first {} s", number(until_s));
            plot.note = if plot.note.is_empty() { note } else { format!("{note}; {}", plot.note) };
        }
        if self.plot.logarithmic {
            plot.y.scale = Scale::Logarithmic;
            for series in &mut plot.series {
                // A logarithmic axis has no zero. Bars become dots, because a bar would have no base. Values of zero
                // become gaps, because they would have no position.
                if series.shape == Shape::Bars {
                    series.shape = Shape::Dots;
                }
                series.points.iter_mut().filter(|(_, y)| *y <= 0.0).for_each(|(_, y)| *y = f64::NAN);
                series.band.retain(|(.., high)| *high > 0.0);
            }
        }
        if let Some(TimeUnit { s: seconds, name }) = self.plot.time_unit.as_ref().filter(|unit| unit.s > 0.0)
        {
            let in_unit = |axis: &mut Axis| {
                let of_time = axis.unit == "s";
                if of_time {
                    axis.reaches /= seconds;
                    axis.unit = "";
                    axis.label = format!("{} ({name})", axis.label);
                }
                if of_time { *seconds } else { 1.0 }
            };
            let (x_s, y_s) = (in_unit(&mut plot.x), in_unit(&mut plot.y));
            plot.series.iter_mut().for_each(|series| series.convert(x_s, y_s));
        }
        let look = |label: &str| self.looks.iter().position(|known| known == label);
        let looks: Option<Vec<usize>> = plot.series.iter().map(|series| look(&series.label)).collect();
        for (series, look) in plot.series.iter_mut().zip(looks.into_iter().flatten()) {
            series.look = look;
        }
    }
}

/// Replaces the value of every point by the mean value of the points in an interval of `width` around it. Values that
/// are not finite stay unchanged.
fn averaged(points: &[(f64, f64)], width: f64) -> Vec<(f64, f64)> {
    let mean = |(x, y): &(f64, f64)| {
        let near = points
            .iter()
            .filter(|(at, other)| (at - x).abs() <= width * 0.5 * (1.0 + 1e-9) && other.is_finite());
        let (sum, count) = near.fold((0.0, 0.0), |(sum, count), (_, other)| (sum + other, count + 1.0));
        (*x, if y.is_finite() { sum / count } else { *y })
    };
    points.iter().map(mean).collect()
}
