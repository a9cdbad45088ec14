//! Curve of a client's window (its limit of attempts in flight) over time, and the distance between two window curves.

use results::SeriesPoint;

/// Windows as pairs of a second of the run and the window at the end of this second.
pub(super) type Windows = Vec<(u64, f64)>;

/// Returns the window at the end of every second. Seconds for which the time series has no window are left out.
pub(super) fn windows(series: &[SeriesPoint]) -> Windows {
    let mut windows: Windows = Vec::new();
    for point in series {
        let Some(window) = point.window else { continue };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole seconds of a run")]
        let second = point.t_s as u64;
        match windows.last_mut() {
            Some(last) if last.0 == second => last.1 = window,
            _ => windows.push((second, window)),
        }
    }
    windows
}

pub(super) fn mean_window(series: &[SeriesPoint]) -> Option<f64> {
    let windows = windows(series);
    (!windows.is_empty())
        .then(|| windows.iter().map(|(_, window)| window).sum::<f64>() / windows.len() as f64)
}

pub(super) fn mean(courses: &[Windows]) -> Option<Windows> {
    let length = courses.iter().map(Vec::len).min().filter(|length| *length > 0)?;
    let at =
        |index: usize| courses.iter().map(move |course| course[index].1).sum::<f64>() / courses.len() as f64;
    Some((0..length).map(|index| (courses[0][index].0, at(index))).collect())
}

/// Returns the mean distance between two window curves, divided by the mean of the curve `other`.
pub(super) fn distance(course: &Windows, other: &Windows) -> Option<f64> {
    let length = course.len().min(other.len());
    if length == 0 {
        return None;
    }
    let pairs = || course.iter().zip(other).take(length);
    let apart: f64 = pairs().map(|((_, here), (_, there))| (here - there).abs()).sum();
    let size: f64 = pairs().map(|(_, (_, there))| there).sum();
    Some(apart / size)
}
