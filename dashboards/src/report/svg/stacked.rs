//! Plots below each other in a separate SVG document, with titles and legends inside.

use std::fmt::Write as _;

use super::area::{Size, area};
use super::legend::legend;
use crate::report::escaping::escaped;
use crate::report::palette;
use crate::report::plot::Plot;
use crate::report::wrapping::{lines, shortened};

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
