//! Plots of the service at each time step: requests, rejections, first requests, successes and the queue.

use super::drawn;
use crate::report::document::Document;
use crate::report::number::number;
use crate::report::plot::{Axis, Plot, Series};
use crate::report::recorded::COLUMNS;
use crate::report::strategy::Strategy;

/// Number of time intervals into which a plot is divided. If a line has more than two points per interval, only the
/// lowest and the highest point of each interval are drawn.
const PLACES: usize = 360;

/// Indices of looks (colour, dash pattern, marker), one per column of data. Rejections and the queue have the same
/// looks as in other plots.
const LOOKS: [usize; COLUMNS.len()] = [0, 1, 4, 2, 3];

pub(in crate::report) fn service(document: &Document) -> Vec<Plot> {
    drawn(document).filter_map(|(_, strategy)| of(strategy)).collect()
}

fn of(strategy: &Strategy) -> Option<Plot> {
    let run = strategy.median();
    let steps = run.recorded.steps.as_ref()?;
    let series = steps.columns.iter().map(|(name, counts)| {
        let alone = steps.columns.len() == 1;
        let look = COLUMNS
            .iter()
            .position(|known| known == name)
            .map_or(0, |index| if alone { 0 } else { LOOKS[index] });
        let at = |(index, count): (usize, &f64)| (index as f64 * steps.step_s, *count);
        let points: Vec<(f64, f64)> = counts.iter().enumerate().map(at).collect();
        Series::line(name, look, extremes(&points, PLACES))
    });
    let longest = steps.columns.iter().map(|(_, counts)| counts.len()).max().unwrap_or(0);
    let mut note = format!("per step of {} s, seed {}", number(steps.step_s), run.seed);
    if longest > 2 * PLACES {
        note = format!("{note}; steps too narrow to draw are merged and shown by their minimum and maximum");
    }
    let title = match steps.columns.as_slice() {
        [(only, _)] => format!("{only} per step: {}", strategy.label),
        _ => format!("The service step by step: {}", strategy.label),
    };
    let (x, y) = (Axis::linear("time", "s"), Axis::linear("per step", ""));
    Plot { title, x, y, series: series.collect(), note }.if_any()
}

/// Divides the points into `places` intervals of time, and returns the lowest and the highest point of each, in order
/// of time. Returns all points if there are at most two per interval.
fn extremes(points: &[(f64, f64)], places: usize) -> Vec<(f64, f64)> {
    if points.len() <= 2 * places {
        return points.to_vec();
    }
    let ends = |near: &[(f64, f64)]| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut ends: Vec<(f64, f64)> =
            near.iter().min_by(by).into_iter().chain(near.iter().max_by(by)).copied().collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.dedup();
        ends
    };
    points.chunks(points.len().div_ceil(places)).flat_map(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_and_gaps_survive_when_there_are_more_steps_than_places() {
        let mut points: Vec<(f64, f64)> = (0..4000).map(|step| (f64::from(step), 20.0)).collect();
        (points[1234].1, points[2345].1) = (150.0, 0.0);
        let drawn = extremes(&points, PLACES);
        assert!(
            drawn.len() <= 2 * PLACES && drawn.contains(&(1234.0, 150.0)) && drawn.contains(&(2345.0, 0.0))
        );
        assert!(drawn.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(extremes(&points[..700], PLACES).len(), 700);
    }
}
