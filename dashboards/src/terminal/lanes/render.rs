//! Drawing of the whole dashboard of several strategies: header, progress, lanes (one per strategy), keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{lane, numbers};
use crate::figures::Remaining;
use crate::terminal::arrangement::{Arrangement, SMALLEST, arrange};
use crate::terminal::render::draw_too_small;
use crate::terminal::state::{Shown, State};
use crate::terminal::theme::{Role, Theme};
use crate::terminal::widgets::segments::{self, Segment};
use crate::terminal::widgets::time_axis::TimeAxis;
use crate::terminal::widgets::{bar, footer, generator, help};
use crate::{Frame, Lane, Lanes, LanesHeader, text};

const LEGEND: &[&str] = &[
    "▶ strategy runs now, ✓ has done all its runs.",
    "┃ the time that no client can beat.",
    "Bars are medians over the finished runs.",
    "The longest bar of all strategies fills its row.",
    "The answer and the paired table follow at the end.",
];

impl Shown for Lanes {
    type Header = LanesHeader;

    const HELP: usize = 1;

    fn fixed_limit(_: &LanesHeader) -> Option<&'static str> {
        Some("the cap cannot be changed: all strategies need the same server")
    }

    fn render(&self, canvas: &mut ratatui::Frame<'_>, state: &State<Self>, theme: Theme) {
        render(canvas, self, state, theme);
    }
}

pub(crate) fn render(canvas: &mut ratatui::Frame<'_>, live: &Lanes, state: &State<Lanes>, theme: Theme) {
    let screen = canvas.area();
    let buf = canvas.buffer_mut();
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        draw_too_small(screen, buf);
        return;
    }
    let lanes = state.paused.as_deref().unwrap_or(live);
    let frame = lanes.lanes.iter().find_map(numbers::going_on);
    let places = places(screen, lanes);
    draw_header(places.header, buf, lanes, state, theme);
    draw_remaining(places.progress, buf, lanes, state, theme);
    let hidden = draw_lanes(places.body, buf, lanes, state, theme);
    if !places.generator.is_empty() {
        let idle = Frame::default();
        generator::draw(places.generator, buf, frame.unwrap_or(&idle), state.header.time_scale, theme);
    }
    let warning = frame
        .filter(|_| places.generator.is_empty())
        .and_then(|frame| generator::warning(frame, state.header.time_scale));
    if let Some(words) = state.notice.text().map(str::to_owned).or(warning) {
        footer::say(places.footer, buf, &words, theme);
    } else {
        let left: Vec<Segment> = hidden.into_iter().map(|text| (text, theme.style(Role::Title))).collect();
        segments::draw(places.footer, buf, &left, &footer::hints::<Lanes>(theme));
    }
    if state.help {
        help::draw::<Lanes>(screen, buf, LEGEND, theme);
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

fn draw_header(row: Rect, buf: &mut Buffer, lanes: &Lanes, state: &State<Lanes>, theme: Theme) {
    let header = &state.header;
    let mut status = Vec::new();
    if state.paused.is_some() {
        status.push((" view paused ".to_owned(), theme.style(Role::Alert)));
    }
    if header.time_scale > 0.0 && (header.time_scale - 1.0).abs() > 1e-9 {
        status.push((format!("time × {}", header.time_scale), theme.style(Role::Faint)));
    }
    if state.stopping {
        status.push(("stopping…".to_owned(), theme.style(Role::Alert)));
    } else {
        status.push((lanes.stage.clone(), theme.style(Role::Title)));
    }
    let width =
        |segments: &[Segment]| segments.iter().map(|(text, _)| text::width_of(text) + 2).sum::<usize>();
    let room = usize::from(row.width).saturating_sub(width(&status));
    let title = text::fit(&header.title, room);
    let left = room.saturating_sub(text::width_of(&title) + 2);
    let mut titles = vec![(title, theme.style(Role::Window).add_modifier(Modifier::BOLD))];
    let rest = [header.workload.as_str(), header.target.as_str()];
    let rest: Vec<_> = rest.into_iter().filter(|text| !text.is_empty()).collect();
    if left >= 8 {
        titles.push((text::fit(&rest.join(" · "), left), Style::new()));
    }
    segments::draw(row, buf, &titles, &status);
}

fn draw_remaining(area: Rect, buf: &mut Buffer, lanes: &Lanes, state: &State<Lanes>, theme: Theme) {
    let scale = if state.header.time_scale > 0.0 { state.header.time_scale } else { 1.0 };
    let remaining = Remaining::new(lanes, scale);
    bar::draw(area, buf, bar::Extent::plain(remaining.share), theme);
    let (done, runs) = (text::count(remaining.done as u64), text::count(remaining.runs as u64));
    let runs = format!("{done:>width$} / {runs} runs", width = runs.len());
    let eta = remaining.eta_s.map_or_else(|| "–".to_owned(), text::estimate);
    let left = [(runs, theme.style(Role::Title)), (format!("eta {eta:>6}"), Style::new())];
    let elapsed = format!("elapsed {:>6}", text::clock(lanes.elapsed.as_secs_f64()));
    segments::draw(Rect { y: area.y + 1, height: 1, ..area }, buf, &left, &[(elapsed, Style::new())]);
}

/// Draws as many lanes as fit on the screen. If some lanes do not fit, returns a text that names the drawn ones.
fn draw_lanes(
    body: Rect,
    buf: &mut Buffer,
    lanes: &Lanes,
    state: &State<Lanes>,
    theme: Theme,
) -> Option<String> {
    let count = u16::try_from(lanes.lanes.len()).unwrap_or(u16::MAX).max(1);
    let height = body.height / count;
    if height >= 2 {
        let height = height.min(lane::tallest(lanes));
        let time = lanes.lanes.iter().filter_map(|lane| Some(TimeAxis::new(&lane.run.as_ref()?.snapshot)));
        let time = time.max_by(|a, b| a.span_s.total_cmp(&b.span_s));
        for (index, lane) in (0..).zip(&lanes.lanes) {
            let area = Rect { y: body.y + index * height, height, ..body };
            lane::draw(area, buf, lanes, lane, time, theme);
        }
        return None;
    }
    let row = |y: u16| Rect { y: body.y + y, height: 1, ..body };
    let head = u16::from(body.height >= 2);
    if head > 0 {
        draw_head(row(0), buf, lanes, theme);
    }
    let fitting = body.height - head;
    let all = lanes.lanes.len();
    let top = top(lanes, state, usize::from(fitting));
    let shown: &[Lane] = &lanes.lanes[top..all.min(top + usize::from(fitting))];
    for (y, lane) in (head..).zip(shown) {
        draw(row(y), buf, lanes, lane, theme);
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

pub(crate) fn draw_head(row: Rect, buf: &mut Buffer, lanes: &Lanes, theme: Theme) {
    let faint = theme.style(Role::Faint);
    let names =
        lanes.columns.iter().map(|column| column.name.to_owned()).chain(Some("window now".to_owned()));
    let names = in_columns(names.take(figures(row, lanes)));
    segments::draw(row, buf, &[("  strategy".to_owned(), faint)], &[(names, faint)]);
}

pub(crate) fn draw(row: Rect, buf: &mut Buffer, lanes: &Lanes, lane: &Lane, theme: Theme) {
    let figures = figures(row, lanes);
    let numbers_width = u16::try_from(figures).unwrap_or(0) * FIGURE;
    let bar_width = bar_width(row, figures);
    let name_width = row.width.saturating_sub(numbers_width + bar_width);
    let name = format!("{} {}", numbers::mark(lane), lane.name);
    let role = if lane.running { Role::Title } else { Role::Window };
    let at = |x: u16, width: u16| Rect { x: row.x + x, width, ..row };
    let name = text::fit(&name, usize::from(name_width.saturating_sub(1)));
    segments::draw(at(0, name_width), buf, &[(name, theme.style(role))], &[]);
    bar::draw(at(name_width, bar_width), buf, bar::Extent::plain(numbers::share(lane)), theme);
    let dash = || "–".to_owned();
    let medians =
        lanes.columns.iter().zip(&lane.figures).map(|(column, spread)| {
            spread.map_or_else(dash, |spread| numbers::value(*column, spread.median))
        });
    let window = numbers::going_on(lane).and_then(|frame| frame.snapshot.gauges.window);
    let window = window.map_or_else(String::new, text::short);
    let texts = in_columns(medians.chain(Some(window)).take(figures));
    segments::draw(at(name_width + bar_width, numbers_width), buf, &[(texts, theme.style(Role::Title))], &[]);
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
