//! Legend of an SVG plot: the label of each series, next to a sample of its line, bar or mark.

use std::fmt::Write as _;

use super::area::{Size, dense};
use crate::report::escaping::escaped;
use crate::report::palette::{LOOKS, marker};
use crate::report::plot::{Plot, Series, Shape};
use crate::report::wrapping::shortened;

pub(in crate::report) fn swatch(series: &Series) -> String {
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

pub(super) fn legend(plot: &Plot, top: f64) -> (String, f64) {
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
