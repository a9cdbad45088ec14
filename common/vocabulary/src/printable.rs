//! Text for people: text from other sources, escaped so that it is safe to print on a terminal, excerpts of it, and whole numbers.

use std::borrow::Cow;

/// Escapes every character that a terminal interprets instead of displaying it, in the form `\u{1b}`. Such characters
/// are control characters other than line breaks and tabs, and marks that change the direction of the following text.
///
/// A terminal executes escape sequences from any source. They can set its title, move its cursor, and on some terminals
/// write to the clipboard. So all output of both programs is escaped by this function where it is written. Colours are
/// added afterwards.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_obeyed(letter) { shown.extend(letter.escape_unicode()) } else { shown.push(letter) }
    }
    shown.into()
}

fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// Maximum number of characters of a word that a message quotes.
const LONGEST: usize = 200;

/// Truncates words of more than 200 characters in a message, because quoted input may be tens of kilobytes long.
pub fn excerpt(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST {
        return message.into();
    }
    let words = message.split_inclusive(char::is_whitespace);
    words
        .map(|word| match word.char_indices().nth(LONGEST) {
            None => Cow::Borrowed(word),
            Some((end, _)) => {
                let space = word.chars().last().filter(|last| last.is_whitespace());
                format!("{}…{}", &word[..end], space.map_or_else(String::new, String::from)).into()
            }
        })
        .collect::<String>()
        .into()
}

pub fn beginning(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(LONGEST) {
        None => value.into(),
        Some((end, _)) => format!("{}…", &value[..end]).into(),
    }
}

/// Formatting of whole numbers with their digits in groups of three, such as `1 234 567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(printable("a\u{1b}]0;x\u{7}b"), "a\\u{1b}]0;x\\u{7}b");
        // CSI as a single character instead of two, and characters that would overwrite the line.
        assert_eq!(printable("\u{9b}2J\r\u{8}\u{7f}\u{202e}"), "\\u{9b}2J\\u{d}\\u{8}\\u{7f}\\u{202e}");
    }

    #[test]
    fn what_is_only_shown_stays() {
        let text = "◆ aimd\t25.3 s · größer\n  次\n";
        assert!(matches!(printable(text), Cow::Borrowed(shown) if shown == text));
    }

    #[test]
    fn only_what_is_too_long_is_cut() {
        let text = "what is said in words, however many there are: ".repeat(20);
        assert_eq!(excerpt(&text), text);
        let long = "ä".repeat(60_000);
        let cut = excerpt(&format!("`{long}` is none; write another\n")).into_owned();
        assert_eq!(cut, format!("`{}… is none; write another\n", "ä".repeat(199)));
        assert_eq!(beginning("short"), "short");
        assert_eq!(beginning(&long), format!("{}…", "ä".repeat(200)));
    }

    #[test]
    fn digits_are_grouped_in_threes_from_the_right() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1 000"), (12_345_678, "12 345 678")] {
            assert_eq!(thousands(number), text);
        }
    }
}
