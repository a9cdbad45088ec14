//! Lines of the answer: their layout in the terminal, and the notation of figures in them.

use std::collections::BTreeMap;

use shell::text::wrapping::{terminal_width, wrapped_to};
use vocabulary::split_outside;

const LABEL: usize = 9;
const COLUMNS: usize = 80;
const MAX_LINES: usize = 15;
/// Labels of lines that are left out if the answer has too many lines, the first one first. The document has all figures.
const LEFT_OUT_FIRST: [&str; 6] = ["By code", "No help", "Library", "Obeying", "Look up", "Worse"];
pub(super) type Line = (&'static str, String);

pub(super) fn fit(lines: &mut Vec<Line>) {
    let height =
        |lines: &[Line]| lines.iter().map(|line| wrapped_line(line, COLUMNS).lines().count()).sum::<usize>();
    for label in LEFT_OUT_FIRST {
        if height(lines) <= MAX_LINES {
            return;
        }
        let Some(first) = lines.iter().position(|(known, _)| *known == label) else { continue };
        let count = lines[first + 1..].iter().take_while(|(label, _)| label.is_empty()).count();
        lines.drain(first..=first + count);
    }
}

fn wrapped_line((label, words): &Line, columns: usize) -> String {
    wrapped_to(columns, words, &format!("{label:<LABEL$}"), &" ".repeat(LABEL))
}

/// Returns the lines for a terminal of at least 80 columns. The command is not wrapped, so that it can be copied.
pub(super) fn screen(lines: &[Line], settings: Option<&str>) -> String {
    let columns = terminal_width().min(COLUMNS);
    let mut text = String::new();
    for line in lines {
        let shown = match line {
            ("Again", words) => format!("{:<LABEL$}{words}", "Again"),
            line => wrapped_line(line, columns),
        };
        text.push_str(&shown);
        text.push('\n');
    }
    if let Some(settings) = settings {
        text.push('\n');
        text.push_str(settings);
    }
    text
}

pub(super) fn in_points(number: f64) -> String {
    let text = points(number);
    if text == "1" { "1 point".to_owned() } else { format!("{text} points") }
}

/// Formats a share in percent with at most one decimal. A share above 0 is never rounded to 0, and one below 100 % never to 100 %.
pub(super) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent > 0.0 && percent < 0.05 => "<0.1 %".to_owned(),
        _ if percent < 100.0 && percent > 99.95 => ">99.9 %".to_owned(),
        _ => format!("{} %", points(percent)),
    }
}

/// Formats percentage points with one decimal below 100 and without decimals above. A decimal of 0 is left out.
pub(super) fn points(points: f64) -> String {
    let text = if points.abs() < 99.95 { format!("{points:.1}") } else { format!("{points:.0}") };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

/// Lists the changes of a server. Without changes, it is the `nominal` one.
pub(super) fn listed(changes: &BTreeMap<String, String>, nominal: &str) -> String {
    if changes.is_empty() {
        return nominal.to_owned();
    }
    changes.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

pub(super) fn listed_values(plausible: &str) -> String {
    split_outside(plausible, ',').collect::<Vec<_>>().join(" or ").replace("..", "–")
}
