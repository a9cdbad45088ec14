//! Warnings in terminal output: one shortened line each, or in full with `--explain`.

use results::names_remedy;

use crate::text::{terminal_width, wrapped_to};

/// Maximum line length of a warning in columns, because longer lines are hard to read.
const WIDTH: usize = 80;

const MARK: &str = "! ";

/// Minimum length in characters of a clause to which a warning may be shortened. Shorter clauses such as `shard 0:` are not clear on their
/// own.
const SHORTEST: usize = 16;

const MORE: &str = " (--explain)";

pub fn note(warning: &str, in_full: bool) -> String {
    let room = WIDTH - 1 - MARK.len();
    let words = if in_full || warning.chars().count() <= room || names_remedy(warning) {
        warning.to_owned()
    } else {
        format!("{}{MORE}", beginning(warning, room - MORE.len()))
    };
    wrapped_to(terminal_width().min(WIDTH), &words, MARK, "  ")
}

/// Returns as many whole clauses from the start of the text as fit. If not even one clause fits, returns as many words of the first clause
/// as fit.
fn beginning(text: &str, room: usize) -> String {
    let fits = |end: &usize| (SHORTEST..=room).contains(&text[..*end].chars().count());
    let ends = |between: &str| text.match_indices(between).map(|(at, _)| at).filter(&fits).max();
    if let Some(end) = [": ", "; ", ", "].iter().filter_map(|between| ends(between)).max() {
        return text[..end].to_owned();
    }
    let words = text.match_indices(' ').map(|(at, _)| at).take_while(|at| text[..*at].chars().count() < room);
    let end = words.last().unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A warning that fits, and every warning with `--explain`, is printed whole. A single long clause is cut between words.
    #[test]
    fn a_long_warning_is_cut_after_a_clause() {
        assert_eq!(note("short", false), "! short");
        let long =
            "the generator was the bottleneck: 1 % of attempts were sent more than 7.11 ms late (real time)";
        assert_eq!(note(long, false), "! the generator was the bottleneck (--explain)");
        assert!(note(long, true).starts_with("! the generator") && note(long, true).lines().count() == 2);
        let shard = note(&format!("shard 0: {long}"), false);
        assert_eq!(shard, "! shard 0: the generator was the bottleneck (--explain)");
        let one_clause = "word ".repeat(30);
        let line = note(one_clause.trim_end(), false);
        assert!(line.ends_with("word… (--explain)") && line.chars().count() < WIDTH, "{line}");
    }
}
