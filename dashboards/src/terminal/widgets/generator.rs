//! Line with the state of the load generator itself, and a warning if the generator is the bottleneck, or if ops wait long
//! because a server advised it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use results::advised_waits;

use super::segments;
use crate::Frame;
use crate::figures::trouble;
use crate::terminal::theme::{Role, Theme};
use crate::text;

pub(crate) fn draw(area: Rect, buf: &mut Buffer, frame: &Frame, time_scale: f64, theme: Theme) {
    let (lag, generator) = (&frame.snapshot.send_lag, &frame.generator);
    let quantile = |share| match lag.count() {
        0 => "–".to_owned(),
        _ => text::duration(lag.quantile(share)),
    };
    let mut left = Vec::new();
    match warning(frame, time_scale) {
        Some(warning) => left.push((text::fit(&warning, usize::from(area.width)), theme.style(Role::Alert))),
        None => left.push(("Generator".to_owned(), theme.style(Role::Title))),
    }
    left.push((format!("send lag p50 {:>6} p99 {:>6}", quantile(0.5), quantile(0.99)), Style::new()));
    left.push((format!("cpu {:>5}", text::whole_percent(generator.cpu_share)), Style::new()));
    left.push((format!("memory {:>7}", text::memory(generator.rss_bytes)), Style::new()));
    left.push((format!("connections {}", text::count(generator.open_connections)), Style::new()));
    segments::draw(area, buf, &left, &[]);
}

pub(crate) fn warning(frame: &Frame, time_scale: f64) -> Option<String> {
    let waits = frame.snapshot.advised_waits.as_ref().map(|(ops, last)| advised_waits(*ops, last));
    waits.or_else(|| trouble(frame, time_scale)).map(|words| format!(" ! {words} "))
}
