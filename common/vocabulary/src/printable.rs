//! Escaping of text from other sources, so that it is safe to print on a terminal.

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
}
