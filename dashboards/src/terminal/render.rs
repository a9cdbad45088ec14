//! Drawing of the whole dashboard of a single run, in the view that the user chose.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};

use super::arrangement::{self, SMALLEST, arrange};
use super::state::{Shown, State, View};
use super::theme::Theme;
use super::widgets::{
    attempts, footer, generator, header, help, key_figures, latency, progress, rates, strategy, window,
};
use crate::{Frame, Header, text};

const LEGEND: &[&str] = &[
    "Attempts in flight should follow the server's cap.",
    "Above the cap: rejections. Below it: idle slots.",
    "ready: ops that wait for the strategy to send them.",
    "sleeping: in backoff. ┃ ▲ no client can be faster.",
    "Latency runs from an op's arrival to its success.",
    "All times are experiment time.",
];

impl Shown for Frame {
    type Header = Header;

    const HELP: usize = 0;

    fn fixed_limit(header: &Header) -> Option<&'static str> {
        let is_fixed = header.adjustable_limit.is_none();
        is_fixed.then_some("no limit can be changed: the target is not a mock server, or has no limits")
    }

    fn render(&self, canvas: &mut ratatui::Frame<'_>, state: &State, theme: Theme) {
        render(canvas, self, state, theme);
    }
}

pub(crate) fn render(canvas: &mut ratatui::Frame<'_>, live: &Frame, state: &State, theme: Theme) {
    let screen = canvas.area();
    let buf = canvas.buffer_mut();
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        draw_too_small(screen, buf);
        return;
    }
    let frame = state.paused.as_deref().unwrap_or(live);
    let places = arrange(screen);
    header::draw(places.header, buf, frame, state, theme);
    progress::draw(places.progress, buf, frame, theme);
    match state.view {
        View::Overview => draw_overview(places.body, buf, frame, state, theme),
        View::Rates => rates::draw(places.body, buf, frame, state.scale, true, theme),
        View::Window => draw_window(places.body, buf, frame, theme),
        View::Latency => draw_latency(places.body, buf, frame, theme),
    }
    let warning = if places.generator.is_empty() {
        generator::warning(frame, state.header.time_scale)
    } else {
        generator::draw(places.generator, buf, frame, state.header.time_scale, theme);
        None
    };
    footer::draw(places.footer, buf, state, warning, theme);
    if state.help {
        help::draw::<Frame>(screen, buf, LEGEND, theme);
    }
}

fn draw_overview(body: Rect, buf: &mut Buffer, frame: &Frame, state: &State, theme: Theme) {
    let places = arrangement::overview(body);
    match places.charts[..] {
        [only] => rates::draw(only, buf, frame, state.scale, true, theme),
        [upper, lower] => {
            rates::draw(upper, buf, frame, state.scale, false, theme);
            window::draw(lower, buf, frame, true, theme);
        }
        _ => {}
    }
    if let Some([now, latencies, efforts]) = places.panels {
        strategy::draw(now, buf, frame, theme);
        latency::draw(latencies, buf, frame, theme);
        attempts::draw(efforts, buf, frame, theme);
    }
    if let Some(lines) = places.lines {
        key_figures::draw(lines, buf, frame, theme);
    }
}

fn draw_window(body: Rect, buf: &mut Buffer, frame: &Frame, theme: Theme) {
    let panel = if body.height >= 16 { 7 } else { 0 };
    let [chart, now] = Layout::vertical([Constraint::Min(0), Constraint::Length(panel)]).areas(body);
    window::draw(chart, buf, frame, true, theme);
    strategy::draw(now, buf, frame, theme);
}

fn draw_latency(body: Rect, buf: &mut Buffer, frame: &Frame, theme: Theme) {
    let panel = if body.height >= 14 { (body.height * 2 / 5).min(12) } else { 0 };
    let [above, below] = Layout::vertical([Constraint::Min(0), Constraint::Length(panel)]).areas(body);
    latency::draw(above, buf, frame, theme);
    attempts::draw(below, buf, frame, theme);
}

pub(crate) fn draw_too_small(screen: Rect, buf: &mut Buffer) {
    let (width, height) = SMALLEST;
    let message = format!("needs {width}x{height}, this is {}x{}", screen.width, screen.height);
    let words = [message.as_str(), "enlarge the window", "q quits"];
    let rows = (screen.top()..screen.bottom()).skip(usize::from(screen.height / 3));
    for (y, words) in rows.zip(words) {
        let line = text::fit(words, usize::from(screen.width));
        buf.set_stringn(screen.x, y, line, usize::from(screen.width), ratatui::style::Style::new());
    }
}
