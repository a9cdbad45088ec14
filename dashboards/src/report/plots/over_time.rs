//! Plots of rates and progress over time, with all strategies in one plot.

use statistics::percentile;

use super::{drawn, note};
use crate::report::palette::{ACCEPTED, REJECTED};
use crate::report::run::Point;
use crate::report::ticks::nice_step;
use crate::report::{Axis, Document, Plot, Run, Series, Strategy, number};
use crate::smoothing::{GaussianKernel, WAVES};
use crate::text::index;

pub(in crate::report) fn rate(document: &Document) -> Vec<Plot> {
    let plots = overlay(document, "Attempts sent per second", per_second(), |point| point.sent);
    without_stalled(document, plots)
}

pub(in crate::report) fn rate_log(document: &Document) -> Vec<Plot> {
    let y = Axis::logarithmic("attempts per second", "");
    let title = "Attempts sent per second, logarithmic";
    let mut plots = overlay(document, title, y, |point| point.sent);
    // Rates that are too low for a single event count as zero. They become gaps, because a rate of zero has no position
    // on a logarithmic axis.
    let least = Grid::new(document).least();
    for series in plots.iter_mut().flat_map(|plot| &mut plot.series) {
        for (_, rate) in &mut series.points {
            *rate = if *rate >= least { *rate } else { f64::NAN };
        }
        // Both edges of the band are raised to the lowest rate that is drawn. So the band has no height at times
        // without attempts, and its visible parts stay separate.
        for (_, low, high) in &mut series.band {
            (*low, *high) = (low.max(least), high.max(least));
        }
    }
    plots
}

/// Draws the accepted and the rejected attempts of a single strategy. For several strategies, draws only the accepted
/// attempts. The rejected ones are left out, because they are the difference between sent and accepted attempts.
pub(in crate::report) fn outcomes(document: &Document) -> Vec<Plot> {
    if let [strategy] = document.strategies.as_slice() {
        let grid = Grid::new(document);
        let series = [
            line("accepted", ACCEPTED, grid.rates(strategy, |point| point.succeeded)),
            line("rejected", REJECTED, grid.rates(strategy, |point| point.rejected)),
        ];
        let title = "Accepted and rejected per second";
        let note = grid.note(document);
        return Plot::new(title, Axis::time(), per_second(), series, note).into_iter().collect();
    }
    overlay(document, "Accepted per second", per_second(), |point| point.succeeded)
}

/// Removes stalled strategies from the plots, if there are other strategies. A stalled strategy makes no progress, for
/// example because all its attempts are rejected. It would compress the curves of the others.
fn without_stalled(document: &Document, mut plots: Vec<Plot>) -> Vec<Plot> {
    let (stalled, others): (Vec<&Strategy>, Vec<&Strategy>) =
        drawn(document).map(|(_, strategy)| strategy).partition(|strategy| strategy.stalled());
    if stalled.is_empty() || others.is_empty() {
        return plots;
    }
    let names: Vec<&str> = stalled.iter().map(|strategy| strategy.label.as_str()).collect();
    for plot in &mut plots {
        plot.series.retain(|series| !names.contains(&series.label.as_str()));
        let left = format!("not drawn, because it stalled: {}", names.join(", "));
        plot.note = if plot.note.is_empty() { left } else { format!("{left}; {}", plot.note) };
    }
    plots
}

pub(in crate::report) fn done(document: &Document) -> Vec<Plot> {
    let grid = Grid::new(document);
    let one = |(look, strategy): (usize, &Strategy)| {
        let mut course = grid.totals(strategy, |point| point.succeeded);
        course.points.insert(0, (0.0, 0.0));
        line(&strategy.label, look, course)
    };
    let (series, y) = (drawn(document).map(one), Axis::linear("ops done", ""));
    Plot::new("Ops done", Axis::time(), y, series, note(document)).into_iter().collect()
}

fn overlay(document: &Document, title: &str, y: Axis, count: fn(&Point) -> f64) -> Vec<Plot> {
    let grid = Grid::new(document);
    let series =
        drawn(document).map(|(look, strategy)| line(&strategy.label, look, grid.rates(strategy, count)));
    let note = grid.note(document);
    Plot::new(title, Axis::time(), y, series, note).into_iter().collect()
}

fn per_second() -> Axis {
    Axis::linear("attempts per second", "")
}

fn line(label: &str, look: usize, course: Series) -> Series {
    Series { label: label.to_owned(), look, ..course }
}

/// Conversion of the time series of runs to a common time grid, because the series of different runs have buckets of
/// different widths.
const MIN_RUNS: usize = 5;

/// Maximum number of cells of a time grid. With more cells, curves would show the noise of single events.
const MAX_CELLS: f64 = 320.0;

/// Limits of the width over which rates are smoothed: a minimum number of grid cells, and a maximum share of the total
/// time.
const MIN_CELLS: f64 = 4.0;
const MAX_OF_TIME: f64 = 1.0 / 12.0;

#[derive(Clone, Copy, Debug)]
struct Grid {
    cell_s: f64,
    cells: usize,
    smooth_s: f64,
}

impl Grid {
    /// Creates a time grid that covers all runs. Cells are as narrow as possible. However, there are at most
    /// `MAX_CELLS` of them, and none is narrower than the widest bucket of a run.
    ///
    /// A stalled strategy is cut off at the time when the other strategies end. Its long run would compress the other
    /// curves into a corner.
    fn new(document: &Document) -> Self {
        let (mut end_s, mut width_s, mut wave_s) = (0.01_f64, 0.01_f64, 0.0_f64);
        let all_stalled = drawn(document).all(|(_, strategy)| strategy.stalled());
        let shown = drawn(document).filter(|(_, strategy)| all_stalled || !strategy.stalled());
        for run in shown.flat_map(|(_, strategy)| &strategy.runs) {
            end_s = end_s.max(run.end_s());
            width_s = width_s.max(run.width_s());
            wave_s = wave_s.max(run.latency_ms(0.0).unwrap_or_default() / 1e3);
        }
        let step_s = nice_step((end_s / MAX_CELLS).max(width_s));
        let cells = index((end_s / step_s).ceil());
        let smooth_s = (WAVES * wave_s).min(end_s * MAX_OF_TIME).max(MIN_CELLS * step_s);
        // The smoothing width is rounded to whole cells, because that is precise enough and gives few digits in notes.
        let smooth_s = (smooth_s / step_s).round() * step_s;
        Self { cell_s: step_s, cells, smooth_s }
    }

    /// Returns the note of the document, followed by the width over which rates are smoothed.
    fn note(self, document: &Document) -> String {
        let smoothing = format!("rates are smoothed over {} s", number(self.smooth_s));
        match note(document).as_str() {
            "" => smoothing,
            note => format!("{note}; {smoothing}"),
        }
    }

    /// Returns a tenth of the highest rate that a single event yields after smoothing. Lower rates count as zero.
    fn least(self) -> f64 {
        1.0 / self.smooth_s / 10.0
    }

    /// Returns the number of events per grid cell. The events of a bucket are spread evenly over the bucket's width.
    fn counts(self, run: &Run, count: fn(&Point) -> f64) -> Vec<f64> {
        let mut cells = vec![0.0; self.cells];
        let width_s = run.width_s();
        for point in &run.series {
            let counted = count(point);
            let (from, to) = (point.t_s / self.cell_s, (point.t_s + width_s) / self.cell_s);
            let (first, last) = (index(from), index(to.ceil()).min(self.cells));
            for (cell, sum) in cells.iter_mut().enumerate().take(last).skip(first) {
                let overlap = to.min((cell + 1) as f64) - from.max(cell as f64);
                *sum += counted * (overlap / (to - from)).clamp(0.0, 1.0);
            }
        }
        cells
    }

    /// Returns the events per second of the median run, with the range from the 5th to the 95th percentile of all runs.
    /// A run counts with a rate of zero after its end.
    fn rates(self, strategy: &Strategy, count: fn(&Point) -> f64) -> Series {
        // Smoothing leaves a tiny rate in cells that are far from any event. Rates below a tenth of the peak of a
        // single event become zero.
        let least = self.least();
        let or_nothing = |rate: f64| if rate < least { 0.0 } else { rate };
        let rates = |run: &Run| {
            self.smoothed(&self.counts(run, count)).iter().map(|sum| or_nothing(sum / self.cell_s)).collect()
        };
        self.course(strategy, 0.5, rates)
    }

    fn totals(self, strategy: &Strategy, count: fn(&Point) -> f64) -> Series {
        let running = |run: &Run| {
            let add = |total: &mut f64, sum: f64| {
                *total += sum;
                Some(*total)
            };
            self.counts(run, count).into_iter().scan(0.0, add).collect()
        };
        self.course(strategy, 1.0, running)
    }

    /// Averages every cell of a time series with its neighbours, weighted by distance. Times before the start of the
    /// run have no weight, because nothing could happen then. Times after the end of the run have counts of zero. If
    /// they were left out, the last wave of responses would look faster than the other waves.
    fn smoothed(self, cells: &[f64]) -> Vec<f64> {
        let bell = GaussianKernel::new(self.smooth_s / self.cell_s);
        let reach = index(bell.reach().ceil());
        let weights: Vec<f64> =
            (0..=reach).map(|off| bell.between(off as f64 - 0.5, off as f64 + 0.5)).collect();
        let weighed = |index: usize| {
            let near = index.saturating_sub(reach)..(index + reach + 1).min(cells.len());
            let sum: f64 = near.map(|other| cells[other] * weights[other.abs_diff(index)]).sum();
            sum / bell.between(-0.5 - index as f64, f64::INFINITY)
        };
        (0..cells.len()).map(weighed).collect()
    }

    fn course(self, strategy: &Strategy, share: f64, cells: impl Fn(&Run) -> Vec<f64>) -> Series {
        let time_s = |cell: usize| (cell as f64 + share) * self.cell_s;
        let end_s = strategy.median().end_s() + self.cell_s;
        let points =
            cells(strategy.median()).into_iter().enumerate().map(|(cell, value)| (time_s(cell), value));
        let points = points.take_while(|(at_s, _)| *at_s <= end_s).collect();
        if strategy.runs.len() < MIN_RUNS {
            return Series { points, ..Series::default() };
        }
        let runs: Vec<Vec<f64>> = strategy.runs.iter().map(cells).collect();
        let last_s = strategy.runs.iter().map(Run::end_s).fold(0.0, f64::max) + self.cell_s;
        let band = (0..self.cells).map(|cell| {
            let mut values: Vec<f64> = runs.iter().map(|cells| cells[cell]).collect();
            values.sort_by(f64::total_cmp);
            let end = |share| percentile(&values, share).unwrap_or(0.0);
            (time_s(cell), end(0.05), end(0.95))
        });
        let band = band.take_while(|(at_s, ..)| *at_s <= last_s).collect();
        Series { points, band, ..Series::default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::strategy::strategies;

    /// Creates a run with 100 events per second, in buckets of `width_s` with `sent` events each.
    fn steady(seconds: f64, width_s: f64, sent: u32) -> Run {
        let buckets = (0..).map(|index| f64::from(index) * width_s).take_while(|t_s| *t_s < seconds - 1e-9);
        let series: Vec<_> = buckets.map(|t_s| json!({ "t_s": t_s, "sent": sent })).collect();
        Run::read(&json!({
            "schema_version": 1, "mode": "simulated", "strategy": "steady", "seed": 1,
            "ops": { "total": 1, "succeeded": 1, "given_up": 0 }, "attempts": { "total": 1 },
            "makespan_s": seconds, "makespan_complete": true, "series": series,
        }))
    }

    fn document(runs: Vec<Run>) -> Document {
        Document { strategies: strategies(runs), ..Document::default() }
    }

    #[test]
    fn a_steady_rate_stays_steady_whatever_the_buckets() {
        let runs = [(1.0, 0.01, 1), (10.0, 0.16, 16), (600.0, 1.28, 128)]
            .map(|(seconds, width, sent)| steady(seconds, width, sent));
        for run in runs {
            let seconds = run.makespan_s().unwrap();
            let document = document(vec![run]);
            let (one, grid) = (&document.strategies[0], Grid::new(&document));
            let course = grid.rates(one, |point| point.sent);
            let inner = course.points.iter().filter(|(at, _)| *at < seconds * 0.9);
            assert!(course.points.len() > 40, "{seconds}: {}", course.points.len());
            assert!(inner.clone().all(|(_, rate)| (rate - 100.0).abs() < 1e-6), "{:?}", course.points);
            let total = grid.totals(one, |point| point.sent).points.last().unwrap().1;
            assert!((total - 100.0 * seconds).abs() < 100.0 * 1.28, "{seconds}: {total}");
        }
    }

    #[test]
    fn waves_of_answers_show_no_beat_and_no_spike_at_the_end() {
        // 50 answers every 500 ms, as with a cap of 50, and every 600 ms, as with a window of 50.
        for wave_ms in [500_u32, 600] {
            let wave_s = f64::from(wave_ms) / 1e3;
            let events = |from_ms| (1..=40).filter(|wave| wave * wave_ms / 80 * 80 == from_ms).count() * 50;
            let series: Vec<_> = (0..=40 * wave_ms)
                .step_by(80)
                .map(|from_ms| json!({ "t_s": f64::from(from_ms) / 1e3, "sent": events(from_ms) }))
                .collect();
            let run = Run::read(&json!({
                "schema_version": 1, "mode": "simulated", "strategy": "waves", "seed": 1,
                "ops": { "total": 1, "succeeded": 1, "given_up": 0 }, "attempts": { "total": 1 },
                "op_latency_ms": { "count": 1, "min": 600.0 },
                "makespan_s": 40.0 * wave_s, "makespan_complete": true, "series": series,
            }));
            let document = document(vec![run]);
            let course = Grid::new(&document).rates(&document.strategies[0], |point| point.sent);
            let rate = 50.0 / wave_s;
            let end_s = 40.0 * wave_s;
            for (at_s, found) in &course.points {
                assert!(*at_s < 2.5 || *found < rate * 1.05, "{found} at {at_s} of {end_s}");
                let inner = *at_s > 2.5 && *at_s < end_s - 1.5;
                assert!(!inner || (found - rate).abs() < rate * 0.05, "{found} at {at_s} of {end_s}");
            }
        }
    }

    #[test]
    fn runs_of_different_lengths_make_a_band_of_the_longest() {
        let runs = (1..=9).map(|seconds| steady(f64::from(seconds), 0.02, 2)).collect();
        let document = document(runs);
        let course = Grid::new(&document).rates(&document.strategies[0], |point| point.sent);
        assert!(course.points.last().unwrap().0 < 5.2 && course.band.last().unwrap().0 > 8.8);
        let (_, low, high) = course.band[course.band.len() / 2];
        assert!(low < 1.0 && high > 99.0, "{low} {high}");
    }
}
