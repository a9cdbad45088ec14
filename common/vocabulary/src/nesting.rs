//! Splitting of a text at the separators outside of parentheses.

/// Splits a text at the separators outside of parentheses; yields at least one piece.
///
/// An unclosed parenthesis extends to the end of the text. An unmatched closing parenthesis is an ordinary character.
pub fn split_outside(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |sign| {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == separator && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        split_outside(text, '+').collect()
    }

    #[test]
    fn text_in_parentheses_is_not_split() {
        assert_eq!(split("a+b:c=(1+(2+3))+d"), ["a", "b:c=(1+(2+3))", "d"]);
        assert_eq!(split(""), [""]);
        assert_eq!(split("+a+"), ["", "a", ""]);
    }

    #[test]
    fn unbalanced_parentheses_end_nothing_early() {
        assert_eq!(split("a+(b+c"), ["a", "(b+c"]);
        assert_eq!(split("a)+(b)+c"), ["a)", "(b)", "c"]);
    }
}
