//! Breaking of lines that are wider than the terminal. Most texts are laid out for the terminal already, and pass unchanged.

use std::borrow::Cow;

use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter, wrap};

/// Characters after which a line may be broken. Words without blanks may be long, such as the names of strategies.
const BREAKS: [char; 7] = [' ', ',', '|', '+', '/', ';', '&'];

/// Placeholder for a blank at which a command must not be broken.
const UNBREAKABLE: &str = "\u{a0}";

/// Continuation of a shell command, so that a broken command can still be copied.
const CONTINUED: &str = " \\\n";

/// Breaks each line of a text that is wider than `columns`. Further parts of a line stand below its description: in `  name   description`
/// below `description`. A command is broken only before a flag, even if it is then too wide, because a shell would take a broken word for
/// two.
pub fn fitted(text: &str, columns: usize) -> Cow<'_, str> {
    if text.lines().all(|line| display_width(line) <= columns) {
        return text.into();
    }
    text.split_inclusive('\n').map(|line| broken(line, columns)).collect::<String>().into()
}

fn broken(line: &str, columns: usize) -> String {
    let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
    let (start, indent) = hanging(line, columns);
    let ((begin, rest), indent) = (line.split_at(start), " ".repeat(indent));
    let options = |columns| {
        let options = Options::new(columns).initial_indent(begin).subsequent_indent(&indent);
        options.word_splitter(WordSplitter::NoHyphenation)
    };
    if ["loadgen ", "mockserver "].iter().any(|name| rest.starts_with(name)) {
        let command = rest.replace(' ', UNBREAKABLE).replace(&format!("{UNBREAKABLE}-"), " -");
        let lines =
            wrap(&command, options(columns.saturating_sub(CONTINUED.trim_end().len())).break_words(false));
        return lines.join(CONTINUED).replace(UNBREAKABLE, " ") + end;
    }
    let parts = WordSeparator::Custom(|line| Box::new(line.split_inclusive(BREAKS).map(Word::from)));
    wrap(rest, options(columns).word_separator(parts)).join("\n") + end
}

/// Returns where the description of a line begins, in bytes, and the indent of the line's further parts, in columns.
fn hanging(line: &str, columns: usize) -> (usize, usize) {
    let start = line.len() - line.trim_start().len();
    let gap = line[start..].find("  ").map(|gap| line.len() - line[start + gap..].trim_start().len());
    match gap.map(|description| (description, display_width(&line[..description]))) {
        Some((description, width)) if width <= columns / 2 => (description, width),
        _ => (start, (display_width(&line[..start]) + 2).min(columns / 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        fitted(text, columns).lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_lines_that_are_too_wide_are_broken() {
        assert!(matches!(fitted("short\n  name   words\n", 20), Cow::Borrowed(_)));
        assert_eq!(fitted("short\nmany words here\n", 10), "short\nmany words\n  here\n");
    }

    #[test]
    fn further_parts_stand_below_the_description() {
        assert_eq!(lines("  name  some words of it", 16), ["  name  some", "        words of", "        it"]);
        assert_eq!(lines("  aimd:beta=0.5,max=10", 17), ["  aimd:beta=0.5,", "    max=10"]);
    }

    #[test]
    fn commands_stay_commands_and_wide_letters_take_two_columns() {
        let lines = lines("Again    loadgen compare --simulate --ops 5 -s 'a b'", 37);
        assert_eq!(lines, ["Again    loadgen compare --simulate \\", "         --ops 5 -s 'a b'"]);
        let wide = fitted("Again  loadgen -s aimd:beta=0.5,max=10 --ops 5 -n 1", 24);
        assert_eq!(wide, "Again  loadgen \\\n       -s aimd:beta=0.5,max=10 \\\n       --ops 5 -n 1");
        assert_eq!(fitted("loadgen -s aimd:beta=0.5\n", 9), "loadgen \\\n  -s aimd:beta=0.5\n");
        assert_eq!(fitted("日本語日本語", 8), "日本語\n  日本語");
        assert!(fitted(&"x".repeat(100), 1).lines().all(|line| line.len() <= 1));
    }
}
