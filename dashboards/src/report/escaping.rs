//! Escaping of texts from result files in HTML and SVG.

use std::fmt::Write as _;

pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(seen(other)),
        }
    }
    safe
}

/// Replaces characters that XML cannot represent. Also replaces characters that change the direction of text, because
/// they could hide the text's content.
pub fn visible(text: &str) -> String {
    text.chars().map(seen).collect()
}

fn seen(letter: char) -> char {
    match letter {
        control if control.is_control() && control != '\n' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        plain => plain,
    }
}

/// Returns a `data:` link that contains the text itself. The text is escaped, so that no part of it is interpreted as
/// another address.
pub(super) fn data_link(mime: &str, text: &str) -> String {
    let mut link = format!("data:{mime};charset=utf-8,");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"{}[]:,._-;=\"".contains(&byte) {
            link.push(char::from(byte));
        } else {
            let _ = write!(link, "%{byte:02X}");
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escaped("<script>\"'&\u{7}"), "&lt;script&gt;&quot;&#39;&amp;\u{fffd}");
    }

    #[test]
    fn invisible_characters_are_replaced_and_markup_stays() {
        assert_eq!(visible("<b>\u{202e}\u{7}\n</b>"), "<b>\u{fffd}\u{fffd}\n</b>");
    }

    #[test]
    fn a_data_link_holds_no_markup_and_no_address() {
        let text = "'<a href=\"http://x?a&b\">'#%";
        let link = data_link("text/csv", text);
        let (head, content) = link.split_once(',').unwrap();
        assert_eq!(head, "data:text/csv;charset=utf-8");
        assert!(!content.contains(['\'', '<', '>', '#', '/', ' ', '&']), "{content}");
        assert_eq!(decoded(content), text);
    }

    fn decoded(held: &str) -> String {
        let mut parts = held.split('%');
        let mut bytes: Vec<u8> = parts.next().unwrap().bytes().collect();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(part[2..].bytes());
        }
        String::from_utf8(bytes).unwrap()
    }
}
