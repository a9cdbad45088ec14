//! Texts of others in HTML and SVG.

use std::fmt::Write as _;

/// The text with everything that HTML, SVG and their quoted attributes would read as markup replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML has no way to write these, and marks that turn the direction of a text would hide what it says.
            control if control.is_control() && control != '\n' => safe.push('\u{fffd}'),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                safe.push('\u{fffd}');
            }
            plain => safe.push(plain),
        }
    }
    safe
}

/// A link's address that holds the text itself. Nothing in it looks like an address of another place.
pub(super) fn data_link(mime: &str, text: &str) -> String {
    let mut link = format!("data:{mime};charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => link.push(char::from(byte)),
            b'{' | b'}' | b'[' | b']' | b':' | b',' | b'.' | b'_' | b'-' | b';' | b'=' | b'"' => {
                link.push(char::from(byte));
            }
            other => {
                let _ = write!(link, "%{other:02X}");
            }
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
    fn a_data_link_holds_no_markup_and_no_address() {
        let link = data_link("text/csv", "'<a href=\"http://x\">'#%");
        assert!(
            !link.contains(['\'', '<', '>', '#', '/', ' ']) || link.starts_with("data:text/csv"),
            "{link}"
        );
        assert!(!link.contains("//"), "{link}");
    }
}
