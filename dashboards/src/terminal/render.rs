//! Drawing of the whole dashboard of a single run, in the view that the user chose.

use ratatui::layout::{Constraint, Layout, Rect};

use super::arrangement::{self, SMALLEST, arrange};
use super::state::{Shown, State, View};
use super::widgets::{
    attempts, footer, generator, header, help, key_figures, latency, progress, rates, strategy, window,
};
use super::{Role, Surface, Theme};
use crate::{Frame, Header, text};

/// Draws the dashboard, with the help over it if it is shown.
pub(crate) fn render<F: Shown>(canvas: &mut ratatui::Frame<'_>, live: &F, state: &State<F>, theme: Theme) {
    let screen = canvas.area();
    let surface = &mut Surface { buf: canvas.buffer_mut(), theme };
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        return draw_too_small(screen, surface);
    }
    state.paused.as_deref().unwrap_or(live).draw(screen, surface, state);
    if state.help {
        help::draw::<F>(screen, surface);
    }
}

impl Shown for Frame {
    type Header = Header;

    const HELP: usize = 0;

    const LEGEND: &[&str] = &[
        "Attempts in flight should follow the server's cap.",
        "Above the cap: rejections. Below it: idle slots.",
        "ready: ops that wait for the strategy to send them.",
        "sleeping: in backoff. ┃ ▲ no client can be faster.",
        "Latency runs from an op's arrival to its success.",
        "All times are experiment time.",
    ];

    fn fixed_limit(header: &Header) -> Option<&'static str> {
        let is_fixed = header.adjustable_limit.is_none();
        is_fixed.then_some("no limit can be changed: the target is not a mock server, or has no limits")
    }

    fn draw(&self, screen: Rect, surface: &mut Surface<'_>, state: &State) {
        let places = arrange(screen);
        header::draw(places.header, surface, self, state);
        progress::draw(places.progress, surface, self);
        match state.view {
            View::Overview => draw_overview(places.body, surface, self, state),
            View::Rates => rates::draw(places.body, surface, self, state.scale, true),
            View::Window => draw_window(places.body, surface, self),
            View::Latency => draw_latency(places.body, surface, self),
        }
        let warning = generator::draw(places.generator, surface, Some(self), state.header.time_scale);
        let views = footer::views(state.view, places.footer.width);
        footer::draw(
            places.footer,
            surface,
            state,
            warning,
            &views,
            state.header.adjustable_limit.as_deref(),
        );
    }
}

fn draw_overview(body: Rect, surface: &mut Surface<'_>, frame: &Frame, state: &State) {
    let places = arrangement::overview(body);
    match places.charts[..] {
        [only] => rates::draw(only, surface, frame, state.scale, true),
        [upper, lower] => {
            rates::draw(upper, surface, frame, state.scale, false);
            window::draw(lower, surface, frame, true);
        }
        _ => {}
    }
    if let Some([now, latencies, efforts]) = places.panels {
        strategy::draw(now, surface, frame);
        latency::draw(latencies, surface, frame);
        attempts::draw(efforts, surface, frame);
    }
    if let Some(lines) = places.lines {
        key_figures::draw(lines, surface, frame);
    }
}

fn draw_window(body: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    let panel = if body.height >= 16 { 7 } else { 0 };
    let [chart, now] = Layout::vertical([Constraint::Min(0), Constraint::Length(panel)]).areas(body);
    window::draw(chart, surface, frame, true);
    strategy::draw(now, surface, frame);
}

fn draw_latency(body: Rect, surface: &mut Surface<'_>, frame: &Frame) {
    let panel = if body.height >= 14 { (body.height * 2 / 5).min(12) } else { 0 };
    let [above, below] = Layout::vertical([Constraint::Min(0), Constraint::Length(panel)]).areas(body);
    latency::draw(above, surface, frame);
    attempts::draw(below, surface, frame);
}

fn draw_too_small(screen: Rect, surface: &mut Surface<'_>) {
    let (width, height) = SMALLEST;
    let message = format!("needs {width}x{height}, this is {}x{}", screen.width, screen.height);
    let words = [message.as_str(), "enlarge the window", "q quits"];
    let rows = (screen.top()..screen.bottom()).skip(usize::from(screen.height / 3));
    for (y, words) in rows.zip(words) {
        let line = text::fit(words, usize::from(screen.width));
        surface.print(screen.x, y, screen.width, line, Role::Plain);
    }
}
