//! Plots of rates and progress over time, with all strategies in one plot.

use statistics::percentile;

use super::{drawn, note};
use crate::report::document::Document;
use crate::report::number::number;
use crate::report::palette::{ACCEPTED, REJECTED};
use crate::report::plot::{Axis, Plot, Series};
use crate::report::run::{Point, Run};
use crate::report::strategy::Strategy;
use crate::report::ticks::nice_step;
use crate::smoothing::{GaussianKernel, WAVES};

pub(in crate::report) fn rate(document: &Document) -> Vec<Plot> {
    let sent = |grid: Grid, strategy: &Strategy| grid.rates(strategy, |point| point.sent);
    without_stalled(document, overlay(document, "Attempts sent per second", per_second(), sent))
}

pub(in crate::report) fn rate_log(document: &Document) -> Vec<Plot> {
    let y = Axis::logarithmic("attempts per second", "");
    let title = "Attempts sent per second, logarithmic";
    let mut plots = overlay(document, title, y, |grid, strategy| grid.rates(strategy, |point| point.sent));
    // Rates that are too low for a single event count as zero. They become gaps, because a rate of zero has no position
    // on a logarithmic axis.
    let least = Grid::new(drawn(document).map(|(_, strategy)| strategy)).single() / 10.0;
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
    let accepted: fn(&Point) -> f64 = |point| point.succeeded;
    let rejected: fn(&Point) -> f64 = |point| point.rejected;
    if let [strategy] = document.strategies.as_slice() {
        let grid = Grid::new(document.strategies.iter());
        let series = [
            ("accepted", ACCEPTED, grid.rates(strategy, accepted)),
            ("rejected", REJECTED, grid.rates(strategy, rejected)),
        ];
        let series = series.into_iter().map(|(label, look, course)| line(label, look, course)).collect();
        let title = "Accepted and rejected per second".to_owned();
        let note = with_smoothing(&note(document), grid);
        return Plot { title, x: time(), y: per_second(), series, note }.if_any().into_iter().collect();
    }
    overlay(document, "Accepted per second", per_second(), |grid, strategy| grid.rates(strategy, accepted))
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
    let grid = Grid::new(drawn(document).map(|(_, strategy)| strategy));
    let one = |(look, strategy): (usize, &Strategy)| {
        let mut course = grid.totals(strategy, |point| point.succeeded);
        course.points.insert(0, (0.0, 0.0));
        line(&strategy.label, look, course)
    };
    let (series, y) = (drawn(document).map(one).collect(), Axis::linear("ops done", ""));
    Plot { title: "Ops done".to_owned(), x: time(), y, series, note: note(document) }
        .if_any()
        .into_iter()
        .collect()
}

fn overlay(
    document: &Document,
    title: &str,
    y: Axis,
    course: impl Fn(Grid, &Strategy) -> ResampledSeries,
) -> Vec<Plot> {
    let grid = Grid::new(drawn(document).map(|(_, strategy)| strategy));
    let series =
        drawn(document).map(|(look, strategy)| line(&strategy.label, look, course(grid, strategy))).collect();
    let note = with_smoothing(&note(document), grid);
    Plot { title: title.to_owned(), x: time(), y, series, note }.if_any().into_iter().collect()
}

fn with_smoothing(note: &str, grid: Grid) -> String {
    if note.is_empty() { grid.smoothing() } else { format!("{note}; {}", grid.smoothing()) }
}

fn per_second() -> Axis {
    Axis::linear("attempts per second", "")
}

fn time() -> Axis {
    Axis::linear("time", "s")
}

fn line(label: &str, look: usize, course: ResampledSeries) -> Series {
    Series { band: course.band, ..Series::line(label, look, course.points) }
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
pub(super) struct Grid {
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
    pub(super) fn new<'a>(strategies: impl Iterator<Item = &'a Strategy>) -> Self {
        let (mut end_s, mut width_s, mut wave_s) = (0.01_f64, 0.01_f64, 0.0_f64);
        let strategies: Vec<&Strategy> = strategies.collect();
        let all_stalled = strategies.iter().all(|strategy| strategy.stalled());
        let shown = strategies.into_iter().filter(|strategy| all_stalled || !strategy.stalled());
        for run in shown.flat_map(|strategy| &strategy.runs) {
            end_s = end_s.max(run.end_s());
            width_s = width_s.max(run.width_s());
            wave_s = wave_s.max(run.latency_ms(0.0).unwrap_or_default() / 1e3);
        }
        let step_s = nice_step((end_s / MAX_CELLS).max(width_s));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most `MOST_CELLS` + 1"
        )]
        let cells = (end_s / step_s).ceil() as usize;
        let smooth_s = (WAVES * wave_s).min(end_s * MAX_OF_TIME).max(MIN_CELLS * step_s);
        // The smoothing width is rounded to whole cells, because that is precise enough and gives few digits in notes.
        let smooth_s = (smooth_s / step_s).round() * step_s;
        Self { cell_s: step_s, cells, smooth_s }
    }

    pub(super) fn smoothing(self) -> String {
        format!("rates are smoothed over {} s", number(self.smooth_s))
    }

    /// Returns the highest rate that a single event yields after smoothing.
    pub(super) fn single(self) -> f64 {
        1.0 / self.smooth_s
    }

    /// Returns the number of events per grid cell. The events of a bucket are spread evenly over the bucket's width.
    fn counts(self, run: &Run, count: fn(&Point) -> f64) -> Vec<f64> {
        let mut cells = vec![0.0; self.cells];
        let width_s = run.width_s();
        for point in &run.series {
            let counted = count(point);
            let (from, to) = (point.t_s / self.cell_s, (point.t_s + width_s) / self.cell_s);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            let (first, last) = (from.floor() as usize, (to.ceil() as usize).min(self.cells));
            for (cell, sum) in cells.iter_mut().enumerate().take(last).skip(first) {
                let overlap = to.min((cell + 1) as f64) - from.max(cell as f64);
                *sum += counted * (overlap / (to - from)).clamp(0.0, 1.0);
            }
        }
        cells
    }

    /// Returns the events per second of the median run, with the range from the 5th to the 95th percentile of all runs.
    /// A run counts with a rate of zero after its end.
    pub(super) fn rates(self, strategy: &Strategy, count: fn(&Point) -> f64) -> ResampledSeries {
        // Smoothing leaves a tiny rate in cells that are far from any event. Rates below a tenth of the peak of a
        // single event become zero.
        let least = self.single() / 10.0;
        let or_nothing = |rate: f64| if rate < least { 0.0 } else { rate };
        let rates = |run: &Run| {
            self.smoothed(&self.counts(run, count)).iter().map(|sum| or_nothing(sum / self.cell_s)).collect()
        };
        self.course(strategy, 0.5, rates)
    }

    pub(super) fn totals(self, strategy: &Strategy, count: fn(&Point) -> f64) -> ResampledSeries {
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
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the kernel covers at most a few hundred cells"
        )]
        let reach = bell.reach().ceil() as usize;
        let weights: Vec<f64> =
            (0..=reach).map(|off| bell.between(off as f64 - 0.5, off as f64 + 0.5)).collect();
        let weighed = |index: usize| {
            let near = index.saturating_sub(reach)..(index + reach + 1).min(cells.len());
            let sum: f64 = near.map(|other| cells[other] * weights[other.abs_diff(index)]).sum();
            sum / bell.between(-0.5 - index as f64, f64::INFINITY)
        };
        (0..cells.len()).map(weighed).collect()
    }

    fn course(self, strategy: &Strategy, share: f64, cells: impl Fn(&Run) -> Vec<f64>) -> ResampledSeries {
        let time_s = |cell: usize| (cell as f64 + share) * self.cell_s;
        let end_s = strategy.median().end_s() + self.cell_s;
        let points =
            cells(strategy.median()).into_iter().enumerate().map(|(cell, value)| (time_s(cell), value));
        let points = points.take_while(|(at_s, _)| *at_s <= end_s).collect();
        if strategy.runs.len() < MIN_RUNS {
            return ResampledSeries { points, band: Vec::new() };
        }
        let runs: Vec<Vec<f64>> = strategy.runs.iter().map(cells).collect();
        let last_s = strategy.runs.iter().map(Run::end_s).fold(0.0, f64::max) + self.cell_s;
        let band = (0..self.cells).map(|cell| {
            let mut values: Vec<f64> = runs.iter().map(|cells| cells[cell]).collect();
            values.sort_by(f64::total_cmp);
            let end = |share| percentile(&values, share).unwrap_or(0.0);
            (time_s(cell), end(0.05), end(0.95))
        });
        ResampledSeries { points, band: band.take_while(|(at_s, ..)| *at_s <= last_s).collect() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct ResampledSeries {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) band: Vec<(f64, f64, f64)>,
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

    #[test]
    fn a_steady_rate_stays_steady_whatever_the_buckets() {
        let runs = [(1.0, 0.01, 1), (10.0, 0.16, 16), (600.0, 1.28, 128)]
            .map(|(seconds, width, sent)| steady(seconds, width, sent));
        for run in runs {
            let seconds = run.makespan_s.unwrap();
            let one = &strategies(vec![run])[0];
            let grid = Grid::new(std::iter::once(one));
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
            let one = &strategies(vec![run])[0];
            let course = Grid::new(std::iter::once(one)).rates(one, |point| point.sent);
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
        let one = &strategies(runs)[0];
        let course = Grid::new(std::iter::once(one)).rates(one, |point| point.sent);
        assert!(course.points.last().unwrap().0 < 5.2 && course.band.last().unwrap().0 > 8.8);
        let (_, low, high) = course.band[course.band.len() / 2];
        assert!(low < 1.0 && high > 99.0, "{low} {high}");
    }
}
