//! Drawing of the whole dashboard of several strategies: header, progress, lanes (one per strategy), keys.

use ratatui::layout::Rect;

use super::{lane, numbers};
use crate::figures::Remaining;
use crate::terminal::arrangement::{Arrangement, arrange};
use crate::terminal::state::{Shown, State};
use crate::terminal::widgets::time_axis::TimeAxis;
use crate::terminal::widgets::{bar, footer, generator, header};
use crate::terminal::{Role, Segment, Surface, row_of};
use crate::{Lane, Lanes, LanesHeader, text};

impl Shown for Lanes {
    type Header = LanesHeader;

    const HELP: usize = 1;

    const LEGEND: &[&str] = &[
        "▶ strategy runs now, ✓ has done all its runs.",
        "┃ the time that no client can beat.",
        "Bars are medians over the finished runs.",
        "The longest bar of all strategies fills its row.",
        "The answer and the paired table follow at the end.",
    ];

    fn fixed_limit(_: &LanesHeader) -> Option<&'static str> {
        Some("the cap cannot be changed: all strategies need the same server")
    }

    fn draw(&self, screen: Rect, surface: &mut Surface<'_>, state: &State<Self>) {
        let places = places(screen, self);
        draw_header(places.header, surface, self, state);
        draw_remaining(places.progress, surface, self, state);
        let hidden = draw_lanes(places.body, surface, self, state);
        let frame = self.lanes.iter().find_map(Lane::going_on);
        let warning = generator::draw(places.generator, surface, frame, state.header.time_scale);
        let left: Vec<Segment> = hidden.into_iter().map(|text| (text, Role::Title)).collect();
        footer::draw(places.footer, surface, state, warning, &left, None);
    }
}

fn places(screen: Rect, lanes: &Lanes) -> Arrangement {
    let mut places = arrange(screen);
    if lanes.lanes.iter().all(|lane| lane.run.is_none()) {
        places.body.height += places.generator.height;
        places.generator = Rect::default();
    }
    places
}

fn draw_header(row: Rect, surface: &mut Surface<'_>, lanes: &Lanes, state: &State<Lanes>) {
    let header = &state.header;
    let status = if state.stopping {
        ("stopping…".to_owned(), Role::Alert)
    } else {
        (lanes.stage.clone(), Role::Title)
    };
    let titles = [header.title.as_str(), &header.workload, &header.target];
    header::draw_line(row, surface, state.paused.is_some(), header.time_scale, titles, [status]);
}

fn draw_remaining(area: Rect, surface: &mut Surface<'_>, lanes: &Lanes, state: &State<Lanes>) {
    let scale = if state.header.time_scale > 0.0 { state.header.time_scale } else { 1.0 };
    let remaining = Remaining::new(lanes, scale);
    bar::draw(area, surface, bar::Extent::plain(remaining.share));
    let (done, runs) = (text::count(remaining.done as u64), text::count(remaining.runs as u64));
    let runs = format!("{done:>width$} / {runs} runs", width = runs.len());
    let eta = remaining.eta_s.map_or_else(|| "–".to_owned(), text::estimate);
    let left = [(runs, Role::Title), (format!("eta {eta:>6}"), Role::Plain)];
    let elapsed = format!("elapsed {:>6}", text::clock(lanes.elapsed.as_secs_f64()));
    surface.segments(row_of(area, 1), &left, &[(elapsed, Role::Plain)]);
}

/// Draws as many lanes as fit on the screen. If some lanes do not fit, returns a text that names the drawn ones.
fn draw_lanes(body: Rect, surface: &mut Surface<'_>, lanes: &Lanes, state: &State<Lanes>) -> Option<String> {
    let count = u16::try_from(lanes.lanes.len()).unwrap_or(u16::MAX).max(1);
    let height = body.height / count;
    if height >= 2 {
        let height = height.min(lane::tallest(lanes));
        let time = lanes.lanes.iter().filter_map(|lane| Some(TimeAxis::new(&lane.run.as_ref()?.snapshot)));
        let time = time.max_by(|a, b| a.span_s.total_cmp(&b.span_s));
        for (index, lane) in (0..).zip(&lanes.lanes) {
            let area = Rect { y: body.y + index * height, height, ..body };
            lane::draw(area, surface, lanes, lane, time);
        }
        return None;
    }
    let head = u16::from(body.height >= 2);
    if head > 0 {
        draw_head(row_of(body, 0), surface, lanes);
    }
    let fitting = body.height - head;
    let all = lanes.lanes.len();
    let top = top(lanes, state, usize::from(fitting));
    let shown: &[Lane] = &lanes.lanes[top..all.min(top + usize::from(fitting))];
    for (y, lane) in (head..).zip(shown) {
        draw(row_of(body, y), surface, lanes, lane);
    }
    (shown.len() < all).then(|| format!("↑ ↓ lanes {}–{} of {all}", top + 1, top + shown.len()))
}

fn top(lanes: &Lanes, state: &State<Lanes>, fitting: usize) -> usize {
    let last = lanes.lanes.len().saturating_sub(fitting);
    let running = || lanes.lanes.iter().position(|lane| lane.running);
    state.top.unwrap_or_else(|| running().map_or(0, |at| (at + 1).saturating_sub(fitting))).min(last)
}

/// Widths in columns of a figure, of a bar with its percentage, and of a percentage alone. `NAME` is the minimum width
/// of a name.
const FIGURE: u16 = 12;
const BAR: u16 = 20;
const PERCENT: u16 = 6;
const NAME: u16 = 16;

pub(crate) fn draw_head(row: Rect, surface: &mut Surface<'_>, lanes: &Lanes) {
    let faint = Role::Faint;
    let names =
        lanes.columns.iter().map(|column| column.name.to_owned()).chain(Some("window now".to_owned()));
    let names = in_columns(names.take(figures(row, lanes)));
    surface.segments(row, &[("  strategy".to_owned(), faint)], &[(names, faint)]);
}

pub(crate) fn draw(row: Rect, surface: &mut Surface<'_>, lanes: &Lanes, lane: &Lane) {
    let figures = figures(row, lanes);
    let numbers_width = u16::try_from(figures).unwrap_or(0) * FIGURE;
    let bar_width = bar_width(row, figures);
    let name_width = row.width.saturating_sub(numbers_width + bar_width);
    let name = format!("{} {}", numbers::mark(lane), lane.name);
    let role = if lane.running { Role::Title } else { Role::Window };
    let at = |x: u16, width: u16| Rect { x: row.x + x, width, ..row };
    let name = text::fit(&name, usize::from(name_width.saturating_sub(1)));
    surface.segments(at(0, name_width), &[(name, role)], &[]);
    bar::draw(at(name_width, bar_width), surface, bar::Extent::plain(numbers::share(lane)));
    let dash = || "–".to_owned();
    let medians =
        lanes.columns.iter().zip(&lane.figures).map(|(column, spread)| {
            spread.map_or_else(dash, |spread| numbers::value(*column, spread.median))
        });
    let window = lane.going_on().and_then(|frame| frame.snapshot.gauges.window);
    let window = window.map_or_else(String::new, text::short);
    let texts = in_columns(medians.chain(Some(window)).take(figures));
    surface.segments(at(name_width + bar_width, numbers_width), &[(texts, Role::Title)], &[]);
}

fn in_columns(texts: impl Iterator<Item = String>) -> String {
    let padded =
        texts.map(|text| " ".repeat(usize::from(FIGURE).saturating_sub(text::width_of(&text))) + &text);
    padded.collect()
}

fn figures(row: Rect, lanes: &Lanes) -> usize {
    let room = row.width.saturating_sub(NAME + PERCENT) / FIGURE;
    let looked_into = lanes.lanes.iter().any(|lane| lane.run.is_some());
    usize::from(room).min(lanes.columns.len() + usize::from(looked_into))
}

fn bar_width(row: Rect, figures: usize) -> u16 {
    let taken = NAME + u16::try_from(figures).unwrap_or(0) * FIGURE;
    if row.width.saturating_sub(taken) >= BAR { BAR } else { PERCENT }
}
