//! `loadgen strategies`: prints the names of all strategies, and with `--explain` one line about each strategy.

use std::fmt::Write as _;

use tailback::{PartKind, STRATEGIES};

use crate::text::wrapping::{columns, labelled, wrapped};

const COMMON_FLAGS: &[&str] = &["none", "full-jitter", "exponential", "aimd", "token-bucket", "retry-budget"];

const KINDS: [(PartKind, &str); 4] = [
    (PartKind::RetryPolicy, "Retry policies: whether and when a failed op tries again"),
    (PartKind::Limiter, "Limiters: when the next attempt may start"),
    (PartKind::Budget, "Budgets: whether an attempt is let through"),
    (PartKind::Hedging, "Hedgers: when copies of an unanswered attempt are sent"),
];

pub(super) fn names() -> String {
    let mut text = format!("Most used: {}\n", COMMON_FLAGS.join(", "));
    for (kind, title) in KINDS {
        let names: Vec<&str> = of_kind(kind).map(|entry| entry.name).collect();
        let _ = write!(text, "{title}\n{}", in_columns(&names));
    }
    text + "\nCombine parts with `+`: aimd+full-jitter:base=100ms+retry-budget\n\
            One: loadgen strategies NAME   Production clients: --presets   All: --explain\n"
}

pub(super) fn explained() -> String {
    let mut text = String::new();
    for (kind, title) in KINDS {
        let _ = writeln!(text, "{title}");
        for entry in of_kind(kind) {
            let _ = writeln!(text, "{}", labelled(&format!("  {}", entry.name), 23, entry.summary));
        }
        text.push('\n');
    }
    let combined = "Combine parts with `+`, such as `aimd+full-jitter:base=100ms+retry-budget`: any number of \
                    limiters and budgets, at most one retry policy and one hedger. `loadgen strategies NAME` explains one, `loadgen strategies --presets` lists what \
                    production clients do.";
    text + &wrapped(combined, "", "") + "\n"
}

fn of_kind(kind: PartKind) -> impl Iterator<Item = &'static tailback::Entry> {
    STRATEGIES.iter().filter(move |entry| entry.kind == kind)
}

/// Arranges names in columns that are read downwards, with as few lines as possible.
fn in_columns(names: &[&str]) -> String {
    let lines =
        (1..=names.len()).find(|lines| width(names, *lines) <= columns()).unwrap_or(names.len()).max(1);
    let columns: Vec<&[&str]> = names.chunks(lines).collect();
    let mut text = String::new();
    for line in 0..lines {
        let mut row = String::new();
        for column in &columns {
            let name = column.get(line).copied().unwrap_or_default();
            let _ = write!(row, "  {name:<width$}", width = longest(column));
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

fn width(names: &[&str], lines: usize) -> usize {
    names.chunks(lines).map(|column| 2 + longest(column)).sum()
}

fn longest(names: &[&str]) -> usize {
    names.iter().map(|name| name.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short list has at most 20 lines.
    #[test]
    fn both_lists_name_every_strategy_within_the_width() {
        let (names, explained) = (names(), explained());
        for entry in STRATEGIES {
            assert!(names.split_whitespace().any(|word| word == entry.name), "{}", entry.name);
            assert!(explained.contains(&format!("  {} ", entry.name)), "{}", entry.name);
        }
        assert!(COMMON_FLAGS.iter().all(|name| tailback::find(name).is_some()));
        assert!(names.lines().count() <= 20, "{names}");
        for line in names.lines().chain(explained.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
