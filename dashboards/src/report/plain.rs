//! Plots as text, for terminals and pipes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use ratatui::widgets::canvas::{Canvas, Context, Line as Stroke, Points};

use super::{LOOKS, Plot, Series, Shape, Span, lines, number};
use crate::text;

/// Sign of every look (colour, dash pattern and marker of a series). Text plots use signs, because they have no
/// colours.
const SIGNS: [&str; LOOKS] = ["o", "#", "^", "*", "v", "+", "=", "x"];

const FILLED: f64 = 0.8;

pub fn plain(plots: &[Plot], columns: u16) -> String {
    plots.iter().map(|plot| one(plot, columns.clamp(30, 200))).collect::<Vec<_>>().join("\n")
}

fn one(plot: &Plot, columns: u16) -> String {
    const ROWS: u16 = 18;
    let points = || plot.series.iter().flat_map(Series::drawable);
    let x = Span::new(&plot.x, points().map(|point| point.0), 5);
    let y = Span::new(&plot.y, points().map(|point| point.1), 5);
    let margin = y.ticks.iter().map(|(_, label)| text::width_of(label)).max().unwrap_or(0);
    let width = columns.saturating_sub(u16::try_from(margin).unwrap_or(10) + 2).max(10);
    let area = Rect::new(0, 0, width, ROWS);
    let mut buffer = Buffer::empty(area);
    Canvas::default()
        .marker(Marker::Braille)
        .x_bounds([0.0, 1.0])
        .y_bounds([0.0, 1.0])
        .paint(|canvas| {
            for (index, series) in plot.series.iter().enumerate() {
                let mut places: Vec<(f64, f64)> = places(series, &x, &y);
                let (nth, count) = plot.among(index);
                let room = FILLED / (plot.x.names.len() * count).max(1) as f64;
                if !plot.x.names.is_empty() {
                    let aside = (nth as f64 - (count as f64 - 1.0) / 2.0) * room;
                    for (x, _) in &mut places {
                        *x += aside;
                    }
                }
                if series.shape == Shape::Bars {
                    for ((x, top), (_, value)) in places.iter().zip(&series.points) {
                        bar(canvas, (*x, room * 0.8), (y.share(0.0), *top));
                        let label = number(*value);
                        let left = x - label.chars().count() as f64 / 2.0 / f64::from(width);
                        canvas.print(left.max(0.0), *top, Line::from(label));
                    }
                    continue;
                }
                if series.shape == Shape::Line {
                    for pair in places.windows(2) {
                        if let [(x1, y1), (x2, y2)] = *pair
                            && y1.is_finite()
                            && y2.is_finite()
                        {
                            canvas.draw(&Stroke { x1, y1, x2, y2, color: Color::Reset });
                        }
                    }
                }
                canvas.draw(&Points { coords: &places, color: Color::Reset });
                if series.shape == Shape::Events {
                    continue;
                }
                let every =
                    if series.shape != Shape::Line || places.len() <= 12 { 1 } else { places.len() / 5 };
                let shown = places.iter().skip(series.look % every).step_by(every);
                for (x, y) in shown.filter(|(_, y)| y.is_finite()) {
                    canvas.print(*x, *y, Line::from(SIGNS[series.look % LOOKS]));
                }
            }
        })
        .render(area, &mut buffer);
    let mut drawn = format!("{}\n{}\n", safe(&plot.title), safe(&plot.y.caption()));
    for row in 0..ROWS {
        let label = y.ticks.iter().find(|(value, _)| row_of(y.share(*value), ROWS) == row);
        let label = label.map_or("", |(_, label)| label.as_str());
        let cells: String = (0..width)
            .filter_map(|column| buffer.cell((column, row)))
            .map(ratatui::buffer::Cell::symbol)
            .collect();
        let line = format!("{label:>margin$} ┤{cells}");
        drawn.push_str(line.trim_end());
        drawn.push('\n');
    }
    drawn.push_str(&axis(&x, margin, width, &safe(&plot.x.caption())));
    for series in &plot.series {
        drawn.extend(["  ", SIGNS[series.look % LOOKS], " ", safe(&series.label).as_str(), "\n"]);
    }
    if !plot.note.is_empty() {
        for line in lines(&safe(&plot.note), usize::from(columns) - 2) {
            drawn.extend(["  ", line.as_str(), "\n"]);
        }
    }
    drawn
}

/// Draws a bar centred at `middle`. The position and the width of the bar are shares of the plot area.
fn bar(canvas: &mut Context<'_>, (middle, width): (f64, f64), (floor, top): (f64, f64)) {
    const STROKES: i32 = 40;
    if top.is_finite() {
        for stroke in 0..=STROKES {
            let x = middle + width * (f64::from(stroke) / f64::from(STROKES) - 0.5);
            canvas.draw(&Stroke { x1: x, y1: floor, x2: x, y2: top, color: Color::Reset });
        }
    }
}

/// Replaces control characters in a text, because a terminal would obey them.
fn safe(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

fn places(series: &Series, x: &Span, y: &Span) -> Vec<(f64, f64)> {
    let place =
        |(at, value): &(f64, f64)| (x.share(*at), if value.is_finite() { y.share(*value) } else { f64::NAN });
    series.points.iter().map(place).collect()
}

fn row_of(share: f64, rows: u16) -> u16 {
    let row = text::whole((1.0 - share) * f64::from(rows - 1));
    u16::try_from(row).unwrap_or(0)
}

fn axis(x: &Span, margin: usize, width: u16, caption: &str) -> String {
    let mut line = String::new();
    for (value, label) in &x.ticks {
        let label = safe(label);
        let column = usize::try_from(text::whole(x.share(*value) * f64::from(width - 1))).unwrap_or(0);
        let start = (margin + 2 + column).saturating_sub(text::width_of(&label) / 2);
        let used = text::width_of(&line);
        if start > used || used == 0 {
            line.push_str(&" ".repeat(start.saturating_sub(used)));
            line.push_str(&label);
        }
    }
    let rule = "─".repeat(usize::from(width));
    let caption = format!("{caption:>end$}\n", end = margin + 2 + usize::from(width));
    let caption = if caption.trim().is_empty() { "" } else { &caption };
    format!("{:>margin$} └{rule}\n{line}\n{caption}", "")
}
