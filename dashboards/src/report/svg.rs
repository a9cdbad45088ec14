//! Figures as SVG.

mod legend;
mod plot;
mod shapes;

use std::fmt::Write as _;

use super::figure::Figure;
use super::html::escaped;
use super::palette;

pub(super) use legend::swatch;
pub(super) use plot::{HEIGHT, WIDTH, plot};

/// Figures below each other as a picture of its own, with titles and legends inside.
pub fn svg(figures: &[Figure]) -> String {
    let mut body = String::new();
    let mut top = 8.0;
    for figure in figures {
        let _ = writeln!(
            body,
            "<text class=\"heading\" x=\"12\" y=\"{:.0}\">{}</text>",
            top + 14.0,
            escaped(&shortened(&figure.title, 60))
        );
        top += 24.0;
        let (legend, height) = legend::legend(figure, top);
        body.push_str(&legend);
        top += height;
        let _ = writeln!(body, "<g transform=\"translate(0 {top:.0})\">{}</g>", plot(figure).drawn);
        top += HEIGHT + 6.0;
        for line in lines(&figure.note, 76) {
            let _ = writeln!(body, "<text x=\"12\" y=\"{:.0}\">{}</text>", top + 8.0, escaped(&line));
            top += 16.0;
        }
        top += 14.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {WIDTH} {top:.0}\" width=\"{}\" height=\"{:.0}\">\n\
         <style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n{body}</svg>\n",
        WIDTH * 1.5,
        top * 1.5,
        palette::CSS
    )
}

/// The text, cut to this many letters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The text in lines of at most this many letters, broken between words.
pub(super) fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shortened(word, most);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}
