//! Plots of the service at each time step: requests, rejections, first requests, successes and the queue.

use results::Steps;

use super::drawn;
use crate::report::{Axis, Document, Plot, Series, Strategy, number};

/// Number of time intervals into which a plot is divided. If a line has more than two points per interval, only the
/// lowest and the highest point of each interval are drawn.
const PLACES: usize = 360;

type Counts = fn(&Steps) -> &Option<Vec<i64>>;

/// Lines with their look (index of colour, dash pattern and marker) and their counts. Rejections and the queue have the
/// same looks as in other plots.
const LINES: [(&str, usize, Counts); 5] = [
    ("requests", 0, |steps| &steps.sent),
    ("rejected", 1, |steps| &steps.turned_away),
    ("first requests", 4, |steps| &steps.first),
    ("succeeded", 2, |steps| &steps.succeeded),
    ("queued", 3, |steps| &steps.queued),
];

pub(in crate::report) fn service(document: &Document) -> Vec<Plot> {
    drawn(document).filter_map(|(_, strategy)| of(strategy)).collect()
}

fn of(strategy: &Strategy) -> Option<Plot> {
    let run = strategy.median();
    let steps = run.recorded.as_ref()?.steps.as_ref()?;
    let lines: Vec<_> =
        LINES.iter().filter_map(|(name, look, of)| Some((*name, *look, of(steps).as_ref()?))).collect();
    let series = lines.iter().map(|(name, look, counts)| {
        let look = if lines.len() == 1 { 0 } else { *look };
        let at = |(index, count): (usize, &i64)| (index as f64 * steps.step_s, *count as f64);
        let points: Vec<(f64, f64)> = counts.iter().enumerate().map(at).collect();
        Series::line(name, look, extremes(&points, PLACES))
    });
    let longest = lines.iter().map(|(.., counts)| counts.len()).max().unwrap_or(0);
    let mut note = format!("per step of {} s, seed {}", number(steps.step_s), run.result.seed);
    if longest > 2 * PLACES {
        note = format!("{note}; steps too narrow to draw are merged and shown by their minimum and maximum");
    }
    let title = match lines.as_slice() {
        [(only, ..)] => format!("{only} per step: {}", strategy.label),
        _ => format!("The service step by step: {}", strategy.label),
    };
    Plot::new(title, Axis::time(), Axis::linear("per step", ""), series, note)
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
