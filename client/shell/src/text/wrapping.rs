//! Wrapping of text into lines that fit the terminal.

use std::io;
use std::sync::OnceLock;

use command_line::columns_of;
use textwrap::{Options, WordSplitter, fill};
use vocabulary::printable;

/// Width in columns that is assumed if stdout is not a terminal. This is also the maximum width of prose, because longer lines are hard to
/// read.
const USUAL: usize = 80;

/// Maximum width of output in columns. A wider terminal is used only up to this width.
const WIDEST: usize = 160;

/// Placeholder for a blank at which a line must not be broken.
const UNBREAKABLE: &str = "\u{a0}";

const UNITS: &[&str] = &["s", "ms", "min", "%"];

/// Minimum width in columns, used even on narrower terminals, because narrower lines would leave no room beside labels.
const LEAST: usize = 32;

/// Number of columns that lines of prose leave free at the right.
const MARGIN: usize = 2;

/// Separator between the figures of a row. A single blank may occur within a figure, as in `29 085 reads`.
const BETWEEN: &str = "   ";

/// Returns the width of the terminal in columns, and at most `USUAL`.
pub fn columns() -> usize {
    terminal_width().min(USUAL)
}

/// Returns the width of the terminal in columns, limited to the range from `LEAST` to `WIDEST`. Returns `USUAL` if stdout is not a
/// terminal.
pub fn terminal_width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    *WIDTH.get_or_init(|| columns_of(&io::stdout()).map_or(USUAL, |columns| columns.clamp(LEAST, WIDEST)))
}

/// Returns the width of the widest text, in characters.
pub fn widest<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> usize {
    texts.into_iter().map(|text| text.as_ref().chars().count()).max().unwrap_or(0)
}

/// Wraps text at blanks into lines of at most `width` - 1 columns. A number is not separated from its unit.
pub fn wrapped_to(width: usize, text: &str, first: &str, rest: &str) -> String {
    within(width - 1, &unbroken(&printable(text)), first, rest).replace(UNBREAKABLE, " ")
}

/// Joins parts with three blanks between them, in as few lines as possible.
pub fn side_by_side(parts: &[&str], width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + BETWEEN.len() + part.chars().count() < width => {
                line.push_str(BETWEEN);
                line.push_str(part);
            }
            _ => lines.push((*part).to_owned()),
        }
    }
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}

/// Makes the blanks inside numbers and before units unbreakable, as in `17 390` and `25.2 s`.
fn unbroken(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        joined.push_str(word);
        let Some(next) = words.peek() else { break };
        let next = next.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
        let is_digits = next.starts_with(|c: char| c.is_ascii_digit()) && next.len() >= 3;
        let continues = UNITS.contains(&next) || is_digits && word.len() <= 3;
        let is_number = word.ends_with(|c: char| c.is_ascii_digit());
        joined.push_str(if is_number && continues { UNBREAKABLE } else { " " });
    }
    joined
}

/// Wraps text at blanks. The first line begins with the text `first`, and each further line begins with the text `rest`.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    within(columns() - MARGIN, &printable(text), first, rest)
}

pub fn labelled(label: &str, columns: usize, words: &str) -> String {
    wrapped(words, &format!("{label:<columns$}"), &" ".repeat(columns))
}

fn within(width: usize, text: &str, first: &str, rest: &str) -> String {
    let words = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let options = Options::new(width).initial_indent(first).subsequent_indent(rest);
    fill(&words, options.break_words(false).word_splitter(WordSplitter::NoHyphenation))
}

/// Wraps a row only between its figures, so that each figure stays on one line. A figure longer than a line is wrapped at its blanks. The
/// first line begins with the text `first`, and each further line is indented by the same width.
pub fn wrapped_figures(figures: &str, first: &str) -> String {
    figures_within(columns(), &printable(figures), first)
}

fn figures_within(columns: usize, figures: &str, first: &str) -> String {
    let rest = " ".repeat(first.chars().count());
    let width = |text: &str| text.chars().count();
    let mut lines = vec![first.to_owned()];
    for figure in figures.split(BETWEEN) {
        let line = lines.last_mut().expect("there is always a line");
        let gap = if width(line) == width(first) { "" } else { BETWEEN };
        if width(line) + gap.len() + width(figure) <= columns {
            line.push_str(gap);
            line.push_str(figure);
            continue;
        }
        let begun = if gap.is_empty() { lines.pop().unwrap_or_default() } else { rest.clone() };
        let broken = within(columns - MARGIN, figure, &begun, &rest);
        lines.extend(broken.lines().map(str::to_owned));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stay_apart_and_whole_wherever_their_row_ends() {
        let figures = "22 301 received   2 000 accepted   20 301 rejected   busy at most 343   29 085 reads   \
                       8 784 of them rejected";
        let text = figures_within(USUAL, figures, "  server     ");
        assert_eq!(
            text,
            "  server     22 301 received   2 000 accepted   20 301 rejected\n             busy at most 343   \
             29 085 reads   8 784 of them rejected"
        );
        let words = format!("one   {}", "words ".repeat(30).trim_end());
        let long = figures_within(USUAL, &words, "  counts     ");
        assert!(long.lines().count() > 2 && long.lines().all(|line| line.chars().count() <= USUAL), "{long}");
        assert_eq!(long.matches("words").count(), 30);
    }

    #[test]
    fn words_stand_beside_their_label() {
        let text = labelled("  aimd", 12, &"words ".repeat(20));
        assert!(text.starts_with("  aimd      words words"), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("            words")), "{text}");
    }

    #[test]
    fn lines_fit_and_begin_with_the_given_prefixes() {
        let text = within(USUAL - MARGIN, &"words ".repeat(40), "note: ", "      ");
        assert!(text.starts_with("note: words"));
        assert!(text.lines().skip(1).all(|line| line.starts_with("      words")));
        assert!(text.lines().all(|line| line.chars().count() <= USUAL - MARGIN));
        assert_eq!(text.matches("words").count(), 40);
    }

    #[test]
    fn dashes_and_marks_are_as_wide_as_letters() {
        let text = within(20, "– ◆ … − – ◆ … − – ◆ … −", "", "");
        assert!(text.lines().next().is_some_and(|line| line.chars().count() == 19), "{text}");
    }
}
