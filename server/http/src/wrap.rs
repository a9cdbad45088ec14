//! Line wrapping for terminals, at spaces and, in words longer than a line, after commas.

/// Width in columns if the output does not go to a terminal, or the terminal's width is unknown.
pub(crate) const USUAL: usize = 80;

pub(crate) const NO_BREAK: char = '\u{a0}';

/// Wraps text to lines of at most `columns` columns. Lines break between words, and after commas in words longer than a line. The first
/// line starts with `first`, all others with `rest`. [`NO_BREAK`] becomes a space.
pub(crate) fn wrapped(text: &str, first: &str, rest: &str, columns: usize) -> String {
    let (mut lines, mut line) = (String::new(), first.to_owned());
    let mut is_empty = true;
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let is_long = rest.chars().count() + word.chars().count() > columns;
        let parts = if is_long { word.split_inclusive(',').collect() } else { vec![word] };
        for (index, part) in parts.into_iter().enumerate() {
            let space = usize::from(!is_empty && index == 0);
            if !is_empty && line.chars().count() + space + part.chars().count() > columns {
                lines += &line;
                lines.push('\n');
                rest.clone_into(&mut line);
            } else if space > 0 {
                line.push(' ');
            }
            line += part;
            is_empty = false;
        }
    }
    (lines + &line + "\n").replace(NO_BREAK, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_not_inside_numbers() {
        let text = format!("500 requests/min, 30{NO_BREAK}000 tokens/min");
        assert_eq!(wrapped(&text, "", "  ", 20), "500 requests/min,\n  30 000 tokens/min\n");
        assert_eq!(wrapped(&text, "a: ", "   ", 80), "a: 500 requests/min, 30 000 tokens/min\n");
    }

    #[test]
    fn a_word_longer_than_a_line_goes_on_after_a_comma() {
        assert_eq!(
            wrapped("x gcra:rate=1/s,burst=5,key=all", "", " ", 16),
            "x gcra:rate=1/s,\n burst=5,key=all\n"
        );
        assert_eq!(wrapped("averylongword", "", " ", 5), "averylongword\n");
    }
}
