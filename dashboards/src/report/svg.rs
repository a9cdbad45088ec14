//! Rendering of plots as SVG.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::report::escaping::escaped;
use crate::report::number::percent;
use crate::report::palette::{self, marker};
use crate::report::wrapping::shortened;
use crate::report::{Axis, LOOKS, Plot, Scale, Series, Shape, Span, lines, number};
use crate::text::index;

/// Plots below each other in a separate SVG document, with titles and legends inside.
pub fn svg(plots: &[Plot]) -> String {
    let mut body = String::new();
    let mut top = 8.0;
    for plot in plots {
        let _ = writeln!(
            body,
            "<text class=\"heading\" x=\"12\" y=\"{:.0}\">{}</text>",
            top + 14.0,
            escaped(&shortened(&plot.title, 60))
        );
        top += 24.0;
        let (legend, height) = legend(plot, top);
        body.push_str(&legend);
        top += height;
        let _ = writeln!(body, "<g transform=\"translate(0 {top:.0})\">{}</g>", area(plot, Size::FULL).drawn);
        top += Size::FULL.height + 6.0;
        for line in lines(&plot.note, 76) {
            let _ = writeln!(body, "<text x=\"12\" y=\"{:.0}\">{}</text>", top + 8.0, escaped(&line));
            top += 16.0;
        }
        top += 14.0;
    }
    let width = Size::FULL.width;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {width} {top:.0}\" width=\"{}\" height=\"{:.0}\">\n\
         <style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n{body}</svg>\n",
        width * 1.5,
        top * 1.5,
        palette::CSS
    )
}

/// Legend of an SVG plot: the label of each series, next to a sample of its line, bar or mark.
pub(super) fn swatch(series: &Series) -> String {
    let look = series.look % LOOKS;
    let line = match series.shape {
        Shape::Line => "<path class=\"line\" d=\"M0 6H30\"/>",
        Shape::Marks | Shape::Dots => "",
        Shape::Bars => {
            return format!("<g class=\"s{look}\"><path class=\"bar\" d=\"M3 1h24v10h-24Z\"/></g>");
        }
        Shape::Events => {
            return format!(
                "<g class=\"s{look}\"><path class=\"events\" d=\"M4 2v8M7 2v8M15 2v8M24 2v8M26 2v8\"/></g>"
            );
        }
    };
    format!(
        "<g class=\"s{look}{}\">{line}<path class=\"mark\" d=\"{}\"/></g>",
        dense(series),
        marker(look, 15.0, 6.0, 3.6)
    )
}

fn legend(plot: &Plot, top: f64) -> (String, f64) {
    const LETTER: f64 = 7.0;
    const ROW: f64 = 17.0;
    let (mut x, mut y) = (12.0, top);
    let mut drawn = String::new();
    for series in &plot.series {
        let label = shortened(&series.label, 60);
        let width = 36.0 + label.chars().count() as f64 * LETTER + 12.0;
        if x > 12.0 && x + width > Size::FULL.width {
            (x, y) = (12.0, y + ROW);
        }
        let _ = writeln!(
            drawn,
            "<g transform=\"translate({x:.0} {y:.0})\">{}<text class=\"caption\" x=\"36\" y=\"10\">{}</text></g>",
            swatch(series),
            escaped(&label)
        );
        x += width;
    }
    (drawn, y + ROW - top)
}

/// Drawing area of a plot: axes, bands, lines and marks, without title and legend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(in crate::report) width: f64,
    pub(in crate::report) height: f64,
    /// Approximate maximum number of ticks per axis.
    ticks: usize,
}

impl Size {
    pub(in crate::report) const FULL: Self = Self { width: 480.0, height: 296.0, ticks: 6 };
    pub(in crate::report) const SMALL: Self = Self { width: 270.0, height: 200.0, ticks: 3 };
}

const LEFT: f64 = 60.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 40.0;

/// Maximum number of points of a line for which every point gets a mark.
const FEW: usize = 14;

/// Maximum number of points of a line that may be dashed. With more points, the line is thin and solid, because dashes
/// would be lost in it.
const MANY: usize = 240;

/// Factor by which the vertical axis is longer than the highest bar. The space above the bars is for their numbers.
const ABOVE_BARS: f64 = 1.1;

/// Mapping of a plot's values to positions in the picture.
struct Frame<'a> {
    plot: &'a Plot,
    size: Size,
    x: Span,
    y: Span,
}

pub(in crate::report) struct Area {
    /// SVG elements of the drawing area, without an `<svg>` around them.
    pub(in crate::report) drawn: String,
    /// Horizontal axis as text: the positions of its two ends, their values, and the scale. With this text, values can
    /// be read back from the picture. The field `y` describes the vertical axis in the same way.
    pub(in crate::report) x: String,
    pub(in crate::report) y: String,
}

pub(super) fn area(plot: &Plot, size: Size) -> Area {
    let points = || plot.points();
    let bands = || plot.series.iter().flat_map(|series| &series.band);
    let visible = plot.series.iter().flat_map(Series::drawable);
    let xs = points().map(|point| point.0).chain(bands().map(|band| band.0));
    // Marks at the lower end of a logarithmic axis would cover the axis' labels, so the axis extends 5 % below the
    // marks.
    let marks = plot.series.iter().filter(|series| matches!(series.shape, Shape::Marks | Shape::Dots));
    let below = marks.flat_map(|series| &series.points).map(|point| point.1 * 0.95);
    let ys = visible.map(|point| point.1).chain(bands().flat_map(|band| [band.1, band.2])).chain(below);
    let bars = plot.series.iter().any(|series| series.shape == Shape::Bars);
    let ys = ys.map(|y| if bars { y * ABOVE_BARS } else { y });
    let (x, y) = (Span::new(&plot.x, xs, size.ticks), Span::new(&plot.y, ys, size.ticks));
    let frame = Frame { plot, size, x, y };
    let mut drawn = frame.axes();
    for (index, series) in plot.series.iter().enumerate() {
        drawn.push_str(&frame.series(index, series));
    }
    let scale = |from: f64, to: f64, span: &Span| {
        format!("{from} {to} {} {} {}", span.from, span.to, span.scale_name())
    };
    let x = scale(LEFT, frame.right(), &frame.x);
    let y = scale(frame.bottom(), TOP, &frame.y);
    Area { drawn, x, y }
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (self.right() - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom() - self.y.share(value) * (self.bottom() - TOP)
    }

    fn right(&self) -> f64 {
        self.size.width - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.size.height - BOTTOM
    }

    fn axes(&self) -> String {
        let (width, right, bottom) = (self.size.width, self.right(), self.bottom());
        let mut drawn = String::new();
        for (value, label) in &self.y.ticks {
            let y = self.y(*value);
            let _ = write!(
                drawn,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                escaped(label)
            );
        }
        let mut free_from = 0.0;
        // All names on the axis are shown, but cut to the available room.
        let room = (right - LEFT) / self.plot.x.names.len().max(1) as f64 / 7.0;
        let letters = if self.plot.x.names.is_empty() { usize::MAX } else { index(room).max(2) };
        for (value, label) in &self.x.ticks {
            let label = shortened(label, letters);
            let x = self.x(*value);
            let _ = write!(drawn, "<path class=\"axis\" d=\"M{x:.1} {bottom}v4\"/>");
            let half = label.chars().count() as f64 * 3.5;
            if x - half >= free_from {
                let (x, anchor) = if x + half > width - 2.0 { (width - 2.0, "end") } else { (x, "middle") };
                let _ = write!(
                    drawn,
                    "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                    bottom + 19.0,
                    escaped(&label)
                );
                free_from = x + half + 6.0;
            }
        }
        let _ = write!(
            drawn,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
             <text class=\"caption\" x=\"8\" y=\"14\">{}</text>\
             <text class=\"caption\" x=\"{right}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            escaped(&self.plot.y.caption()),
            self.size.height - 5.0,
            escaped(&self.plot.x.caption())
        );
        drawn
    }

    fn series(&self, index: usize, series: &Series) -> String {
        let look = series.look % LOOKS;
        let mut drawn = format!(
            "<g class=\"series s{look}{}\" data-series=\"{index}\"><title>{}</title>",
            dense(series),
            escaped(&series.label)
        );
        if series.band.len() > 1 && series.shape == Shape::Line {
            let _ = write!(drawn, "<path class=\"band\" d=\"{}\"/>", self.band(series));
        }
        match series.shape {
            Shape::Line => {
                let _ = write!(drawn, "<path class=\"line\" d=\"{}\"/>", self.line(series));
                self.sparse_marks(series, &mut drawn);
            }
            Shape::Marks => {
                for (index, point) in series.points.iter().enumerate().rev() {
                    let (class, size) = if index == 0 { ("mark", 5.0) } else { ("mark one", 3.0) };
                    self.mark(series, *point, 0.0, class, size, &mut drawn);
                }
            }
            Shape::Dots => self.dots(index, series, &mut drawn),
            Shape::Bars => self.bars(index, series, &mut drawn),
            Shape::Events => drawn.push_str(&self.events(series)),
        }
        drawn.push_str("</g>\n");
        drawn
    }

    fn line(&self, series: &Series) -> String {
        let mut path = String::new();
        let mut gap = true;
        for (x, y) in &series.points {
            if !(x.is_finite() && y.is_finite()) {
                gap = true;
                continue;
            }
            let _ = write!(path, "{}{:.1} {:.1}", if gap { 'M' } else { 'L' }, self.x(*x), self.y(*y));
            gap = false;
        }
        path
    }

    fn band(&self, series: &Series) -> String {
        let mut path = String::new();
        for (index, (x, low, _)) in series.band.iter().enumerate() {
            let _ =
                write!(path, "{}{:.1} {:.1}", if index == 0 { 'M' } else { 'L' }, self.x(*x), self.y(*low));
        }
        for (x, _, high) in series.band.iter().rev() {
            let _ = write!(path, "L{:.1} {:.1}", self.x(*x), self.y(*high));
        }
        path + "Z"
    }

    /// Draws a mark on every point of a line if there are few points, and otherwise on about six points. Lines with
    /// different looks are marked at different points.
    fn sparse_marks(&self, series: &Series, drawn: &mut String) {
        let points: Vec<(f64, f64)> = series.drawable().collect();
        if points.len() > FEW && self.plot.series.len() == 1 {
            // A single line needs no marks, because there are no other lines to distinguish it from.
            return;
        }
        let every = if points.len() <= FEW { 1 } else { points.len() / 6 };
        let first = if every == 1 { 0 } else { (series.look * 2 + 1) * every / (2 * LOOKS) };
        for point in points.into_iter().skip(first).step_by(every) {
            self.mark(series, point, 0.0, "mark", 3.2, drawn);
        }
    }

    fn mark(
        &self,
        series: &Series,
        (x, y): (f64, f64),
        aside: f64,
        class: &str,
        size: f64,
        drawn: &mut String,
    ) {
        let _ = write!(
            drawn,
            "<path class=\"{class}\" d=\"{}\"><title>{}: {}, {}</title></path>",
            marker(series.look, self.x(x) + aside, self.y(y), size),
            escaped(&series.label),
            escaped(&self.place_text_of_x(x)),
            escaped(&place_text(y, &self.plot.y))
        );
    }

    fn place_text_of_x(&self, x: f64) -> String {
        let axis = &self.plot.x;
        axis.name_at(x).unwrap_or_else(|| place_text(x, axis))
    }
}

fn dense(series: &Series) -> &'static str {
    if series.points.len() > MANY { " dense" } else { "" }
}

fn place_text(value: f64, axis: &Axis) -> String {
    match (axis.scale, axis.unit) {
        (Scale::Nines, _) => percent(value),
        (_, "") => format!("{} {}", axis.label, number(value)),
        (_, unit) => format!("{} {} {unit}", axis.label, number(value)),
    }
}

/// Plot shapes other than lines: bars, dots side by side, and events that are too numerous for marks.
const FILLED: f64 = 0.8;

const STROKE: [f64; 2] = [1.4, 8.0];

impl Frame<'_> {
    fn bars(&self, index: usize, series: &Series, drawn: &mut String) {
        const LETTER: f64 = 6.6;
        let (nth, count) = self.plot.among(index);
        let names = self.plot.x.names.len();
        let places = if names == 0 { series.points.len() } else { names };
        let width = (self.right() - LEFT) / places.max(1) as f64 * FILLED / count as f64;
        for (x, y) in series.drawable() {
            let left = self.x(x) + (nth as f64 - count as f64 / 2.0) * width;
            let (top, label) = (self.y(y), number(y));
            let _ = write!(
                drawn,
                "<path class=\"bar\" d=\"M{left:.1} {:.1}V{top:.1}h{:.1}V{:.1}Z\"><title>{}: {}, {label}</title></path>",
                self.bottom(),
                width * 0.92,
                self.bottom(),
                escaped(&series.label),
                escaped(&self.place_text_of_x(x)),
            );
            let middle = left + width * 0.46;
            let top = top.min(self.whisker(series, x, middle, drawn));
            if label.chars().count() as f64 * LETTER <= width.max(26.0) {
                let _ = write!(
                    drawn,
                    "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                    top - 5.0
                );
            }
        }
    }

    fn dots(&self, index: usize, series: &Series, drawn: &mut String) {
        const APART: f64 = 9.0;
        let (nth, count) = self.plot.among(index);
        let aside = if self.plot.x.names.is_empty() {
            0.0
        } else {
            (nth as f64 - (count as f64 - 1.0) / 2.0) * APART
        };
        for point in series.drawable() {
            self.whisker(series, point.0, self.x(point.0) + aside, drawn);
            self.mark(series, point, aside, "mark", 3.6, drawn);
        }
    }

    /// Draws a stroke for every event. Strokes that would cover each other are drawn only once.
    fn events(&self, series: &Series) -> String {
        #[expect(clippy::cast_possible_truncation, reason = "places lie within the picture")]
        let place = |(x, y)| ((self.x(x) * 5.0).round() as i32, self.y(y).round() as i32);
        let rows = series.points.iter().map(|(_, y)| y.to_bits()).collect::<BTreeSet<_>>().len().max(1);
        let height = ((self.bottom() - TOP) / rows as f64 * 0.8).clamp(STROKE[0], STROKE[1]);
        let places: BTreeSet<(i32, i32)> = series.drawable().map(place).collect();
        let mut path = String::new();
        for (x, y) in places {
            let _ = write!(path, "M{} {:.1}v{height:.1}", f64::from(x) / 5.0, f64::from(y) - height);
        }
        format!("<path class=\"events\" d=\"{path}\"/>")
    }

    /// Draws the band of a point as a line, and returns the position of its upper end; infinity without a band.
    fn whisker(&self, series: &Series, x: f64, at: f64, drawn: &mut String) -> f64 {
        let band = series.band.iter().find(|(there, ..)| (there - x).abs() < 1e-9);
        let Some((_, low, high)) = band else { return f64::INFINITY };
        let top = self.y(*high);
        if high > low {
            let _ = write!(drawn, "<path class=\"whisker\" d=\"M{at:.1} {:.1}V{top:.1}\"/>", self.y(*low));
        }
        top
    }
}
