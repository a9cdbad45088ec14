//! Shortening of messages that quote arbitrarily long input.

use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
