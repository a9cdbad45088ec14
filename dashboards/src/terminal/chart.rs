//! Chart over time: a title with the legend, a value axis, and layers of areas, lines and levels.

use ratatui::layout::Rect;

use super::painter::{Painter, steps};
use super::widgets::rule::{LegendKey, rule};
use super::widgets::time_axis::{self, TimeAxis};
use super::{Role, Surface};
use crate::figures::Scale;
use crate::text;

/// Width of the value axis in columns: five for the label, one for the line.
const GUTTER: u16 = 6;

/// Dash pattern of a line. Different patterns distinguish lines even without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Dashed,
    Dotted,
}

/// Layer of a chart. Charts draw their layers in the listed order, the lowest layer first.
pub(crate) enum Layer {
    /// Filled area from zero up to a value. There is one value per column of the screen.
    Area(Role, Vec<Option<f64>>),
    /// Level drawn as horizontal pieces. There is one value per column of the screen.
    Level(Role, Vec<Option<f64>>),
    /// Line of dots. There is one range of values per column of dots, and a character of the screen has two columns of
    /// dots.
    Line(Role, Dash, Vec<Option<(f64, f64)>>),
}

pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) legend: Vec<LegendKey>,
    pub(crate) scale: Scale,
    pub(crate) end: f64,
    pub(crate) time: TimeAxis,
    pub(crate) labelled: bool,
    pub(crate) layers: Vec<Layer>,
}

pub(crate) fn columns(area: Rect) -> u16 {
    area.width.saturating_sub(GUTTER)
}

impl Chart<'_> {
    pub(crate) fn draw(self, area: Rect, surface: &mut Surface<'_>) {
        rule(area, surface, self.title, &self.legend);
        let below = u16::from(self.labelled);
        let plot = Rect {
            x: area.x + GUTTER.min(area.width),
            y: area.y + 1,
            width: columns(area),
            height: area.height.saturating_sub(1 + below),
        };
        self.draw_value_axis(plot, area.x, surface);
        let mut painter = Painter::new(surface, plot);
        for layer in &self.layers {
            self.draw_layer(layer, &mut painter);
        }
        if let Some(column) = self.time.optimal_column(plot.width) {
            painter.hair_line(column, Role::LowerBound);
        }
        if self.labelled {
            let row = Rect { y: plot.bottom(), height: 1, ..plot };
            time_axis::draw(self.time, row.intersection(surface.buf.area), surface);
        }
    }

    fn draw_value_axis(&self, plot: Rect, x: u16, surface: &mut Surface<'_>) {
        let line = Rect { x: plot.x.saturating_sub(1), width: 1, ..plot }.intersection(surface.buf.area);
        for y in line.top()..line.bottom() {
            surface.print(line.x, y, 1, "│", Role::Faint);
        }
        let mut labelled = None;
        for value in self.scale.ticks(self.end, plot.height) {
            let share = match self.scale {
                Scale::Logarithmic if value <= 1.0 => 0.0,
                scale => scale.share(value, self.end),
            };
            // A value may be exactly on the boundary between two rows. It is then labelled in the lower row, because it
            // is the upper end of that row.
            let up = steps(share, plot.height).max(1);
            let y = plot.bottom().saturating_sub(up);
            if y >= plot.top() && y < line.bottom() && labelled != Some(y) {
                labelled = Some(y);
                let label = format!("{:>5}", text::short(value));
                surface.print(x, y, GUTTER - 1, label, Role::Faint);
                surface.print(line.x, y, line.width, "┤", Role::Faint);
            }
        }
    }

    fn draw_layer(&self, layer: &Layer, painter: &mut Painter<'_>) {
        let height = |value: f64| self.scale.share(value, self.end);
        match layer {
            Layer::Area(role, values) => {
                each(values, |column, value| painter.bar(column, height(value), *role));
            }
            Layer::Level(role, values) => {
                each(values, |column, value| painter.level(column, height(value), *role));
            }
            Layer::Line(role, dash, ranges) => {
                let mut before = None;
                for (column, range) in (0_u16..).zip(ranges) {
                    if let Some((low, high)) = range.filter(|_| dash.marks(column)) {
                        let (low, high) = (height(low), height(high));
                        let (from, to) = match before.filter(|_| *dash != Dash::Dotted) {
                            // Each piece of a line is extended to meet the previous piece, so that the line has no
                            // gaps.
                            Some((was_low, was_high)) => (low.min(was_high), high.max(was_low)),
                            None => (low, high),
                        };
                        painter.stroke(column, from, to, *role);
                    }
                    before = range.map(|(low, high)| (height(low), height(high)));
                }
            }
        }
    }
}

impl Dash {
    const fn marks(self, column: u16) -> bool {
        match self {
            Self::Solid => true,
            Self::Dashed => column % 6 < 4,
            Self::Dotted => column.is_multiple_of(2),
        }
    }
}

fn each(values: &[Option<f64>], mut draw: impl FnMut(u16, f64)) {
    for (column, value) in (0_u16..).zip(values) {
        if let Some(value) = value {
            draw(column, *value);
        }
    }
}
