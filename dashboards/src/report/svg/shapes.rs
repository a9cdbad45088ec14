//! Plot shapes other than lines: bars, dots side by side, and events that are too numerous for marks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::area::{Frame, LEFT, TOP};
use crate::report::escaping::escaped;
use crate::report::number::number;
use crate::report::plot::Series;

const FILLED: f64 = 0.8;

const STROKE: [f64; 2] = [1.4, 8.0];

impl Frame<'_> {
    fn place(&self, series: &Series) -> f64 {
        let places = if self.plot.x.names.is_empty() { series.points.len() } else { self.plot.x.names.len() };
        (self.right() - LEFT) / places.max(1) as f64
    }

    pub(super) fn bars(&self, index: usize, series: &Series) -> String {
        const LETTER: f64 = 6.6;
        let (nth, count) = self.plot.among(index);
        let width = self.place(series) * FILLED / count as f64;
        let mut drawn = String::new();
        for (x, y) in series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let left = self.x(*x) + (nth as f64 - count as f64 / 2.0) * width;
            let (top, label) = (self.y(*y), number(*y));
            let _ = write!(
                drawn,
                "<path class=\"bar\" d=\"M{left:.1} {:.1}V{top:.1}h{:.1}V{:.1}Z\"><title>{}: {}, {label}</title></path>",
                self.bottom(),
                width * 0.92,
                self.bottom(),
                escaped(&series.label),
                escaped(&self.place_text_of_x(*x)),
            );
            let middle = left + width * 0.46;
            let whisker = self.whisker(series, *x, middle);
            drawn.push_str(&whisker);
            if label.chars().count() as f64 * LETTER <= width.max(26.0) {
                let top = top.min(self.top_of_whisker(series, *x));
                let _ = write!(
                    drawn,
                    "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                    top - 5.0
                );
            }
        }
        drawn
    }

    pub(super) fn dots(&self, index: usize, series: &Series) -> String {
        const APART: f64 = 9.0;
        let (nth, count) = self.plot.among(index);
        let aside = if self.plot.x.names.is_empty() {
            0.0
        } else {
            (nth as f64 - (count as f64 - 1.0) / 2.0) * APART
        };
        let mut drawn = String::new();
        for point in series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            drawn.push_str(&self.whisker(series, point.0, self.x(point.0) + aside));
            self.mark_aside(series, *point, aside, "mark", 3.6, &mut drawn);
        }
        drawn
    }

    /// Draws a stroke for every event. Strokes that would cover each other are drawn only once.
    pub(super) fn events(&self, series: &Series) -> String {
        #[expect(clippy::cast_possible_truncation, reason = "places lie within the picture")]
        let place = |(x, y): &(f64, f64)| ((self.x(*x) * 5.0).round() as i32, self.y(*y).round() as i32);
        let drawable = series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let rows = series.points.iter().map(|(_, y)| y.to_bits()).collect::<BTreeSet<_>>().len().max(1);
        let height = ((self.bottom() - TOP) / rows as f64 * 0.8).clamp(STROKE[0], STROKE[1]);
        let places: BTreeSet<(i32, i32)> = drawable.map(place).collect();
        let mut path = String::new();
        for (x, y) in places {
            let _ = write!(path, "M{} {:.1}v{height:.1}", f64::from(x) / 5.0, f64::from(y) - height);
        }
        format!("<path class=\"events\" d=\"{path}\"/>")
    }

    fn whisker(&self, series: &Series, x: f64, at: f64) -> String {
        let Some((_, low, high)) = band_at(series, x).filter(|(_, low, high)| high > low) else {
            return String::new();
        };
        format!("<path class=\"whisker\" d=\"M{at:.1} {:.1}V{:.1}\"/>", self.y(low), self.y(high))
    }

    fn top_of_whisker(&self, series: &Series, x: f64) -> f64 {
        band_at(series, x).map_or(f64::INFINITY, |(_, _, high)| self.y(high))
    }
}

fn band_at(series: &Series, x: f64) -> Option<(f64, f64, f64)> {
    series.band.iter().copied().find(|(at, ..)| (at - x).abs() < 1e-9)
}
