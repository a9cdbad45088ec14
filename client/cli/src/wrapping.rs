//! Text broken into lines that fit a terminal.

/// Columns of text.
const WIDTH: usize = 78;

/// Breaks text at spaces; the first line begins with `first`, the others with `rest`.
pub(crate) fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines = vec![first.to_owned()];
    let mut blank = true;
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !blank && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{rest}{word}"));
            continue;
        }
        if !blank {
            line.push(' ');
        }
        line.push_str(word);
        blank = false;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_begin_as_told() {
        let text = wrapped(&"words ".repeat(40), "note: ", "      ");
        assert!(text.starts_with("note: words"));
        assert!(text.lines().skip(1).all(|line| line.starts_with("      words")));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(text.matches("words").count(), 40);
    }
}
