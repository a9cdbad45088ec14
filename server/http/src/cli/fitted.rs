//! Breaking of lines that are wider than the terminal. Most texts are laid out for the terminal already, and pass unchanged.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters after which a word without blanks may be broken, such as a long strategy name.
const BREAKS: [char; 6] = [',', '|', '+', '/', ';', '&'];

/// Continuation of a shell command, so that a broken command can still be copied.
const CONTINUED: &str = " \\";

/// Breaks each line of a text that is wider than `columns`. Further parts of a line stand below its description: in `  name   description`
/// below `description`.
pub fn fitted(text: &str, columns: usize) -> Cow<'_, str> {
    if text.lines().all(|line| line.width() <= columns) {
        return text.into();
    }
    text.split_inclusive('\n').map(|line| broken(line, columns)).collect::<String>().into()
}

fn broken(line: &str, columns: usize) -> String {
    let (mut rest, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
    let indent = hanging(rest, columns);
    let is_command = ["loadgen ", "mockserver "].iter().any(|name| rest[indent.0..].starts_with(name));
    let mut text = String::new();
    let mut begin = String::new();
    while begin.width() + rest.width() > columns {
        let room =
            columns.saturating_sub(begin.width() + if is_command { CONTINUED.len() } else { 0 }).max(1);
        let first = if text.is_empty() { indent.0 } else { 0 };
        let at = break_of(rest, first, room, is_command);
        if at == rest.len() {
            break;
        }
        text += &begin;
        text += rest[..at].trim_end();
        text += if is_command { CONTINUED } else { "" };
        text.push('\n');
        rest = rest[at..].trim_start();
        begin = " ".repeat(indent.1);
    }
    text + &begin + rest + end
}

/// Returns where the description of a line begins, in bytes, and the indent of the line's further parts, in columns.
fn hanging(line: &str, columns: usize) -> (usize, usize) {
    let start = line.len() - line.trim_start().len();
    let gap = line[start..].find("  ").map(|gap| line.len() - line[start + gap..].trim_start().len());
    match gap {
        Some(description) if line[..description].width() <= columns / 2 => {
            (description, line[..description].width())
        }
        _ => (start, (line[..start].width() + 2).min(columns / 2)),
    }
}

/// Returns the byte at which a line is broken: at its last blank that fits, otherwise after a separator, otherwise anywhere. The first
/// `first` bytes are not broken at blanks. A command is broken only before a flag, even if it is then too wide, because a shell would take
/// a broken word for two.
fn break_of(line: &str, first: usize, room: usize, is_command: bool) -> usize {
    let mut taken = 0;
    let fits = line.char_indices().find(|(_, letter)| {
        taken += letter.width().unwrap_or(0);
        taken > room
    });
    let fits = fits.map_or(line.len(), |(at, _)| at).max(line.chars().next().map_or(0, char::len_utf8));
    let (start, gap) = (first.min(fits), if is_command { " -" } else { " " });
    let inner = &line[start..fits];
    let blank = if line[fits..].starts_with(gap) { Some(inner.len()) } else { inner.rfind(gap) };
    let blank = blank.filter(|at| *at > 0);
    if is_command && blank.is_none() {
        return line[fits..].find(gap).map_or(line.len(), |at| fits + at);
    }
    let separator = || inner.rfind(BREAKS).map(|at| at + 1);
    blank.or_else(separator).map_or(fits, |at| start + at)
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
        assert_eq!(fitted("日本語日本語", 8), "日本語日\n  本語");
        assert!(fitted(&"x".repeat(100), 1).lines().all(|line| line.len() <= 1));
    }
}
