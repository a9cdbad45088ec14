//! Line with the state of the load generator itself, and a warning if the generator is the bottleneck, or if ops wait long
//! because a server advised it.

use ratatui::layout::Rect;

use crate::figures::{advised, trouble};
use crate::terminal::{Role, Surface};
use crate::{Frame, text};

/// Draws the line of the run in progress. If there is no room for it, returns the warning instead.
pub(crate) fn draw(
    area: Rect,
    surface: &mut Surface<'_>,
    frame: Option<&Frame>,
    time_scale: f64,
) -> Option<String> {
    if area.is_empty() {
        return warning(frame?, time_scale);
    }
    let idle = Frame::default();
    let frame = frame.unwrap_or(&idle);
    let (lag, generator) = (&frame.snapshot.send_lag, &frame.generator);
    let quantile = |share| match lag.count() {
        0 => "–".to_owned(),
        _ => text::duration(lag.quantile(share)),
    };
    let state = match warning(frame, time_scale) {
        Some(warning) => (text::fit(&warning, usize::from(area.width)), Role::Alert),
        None => ("Generator".to_owned(), Role::Title),
    };
    let left = [
        state,
        (format!("send lag p50 {:>6} p99 {:>6}", quantile(0.5), quantile(0.99)), Role::Plain),
        (format!("cpu {:>5}", text::whole_percent(generator.cpu_share)), Role::Plain),
        (format!("memory {:>7}", text::memory(generator.rss_bytes)), Role::Plain),
        (format!("connections {}", text::count(generator.open_connections)), Role::Plain),
    ];
    surface.segments(area, &left, &[]);
    None
}

fn warning(frame: &Frame, time_scale: f64) -> Option<String> {
    advised(&frame.snapshot).or_else(|| trouble(frame, time_scale)).map(|words| format!(" ! {words} "))
}
