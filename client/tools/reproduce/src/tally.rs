//! Last line printed by `loadgen reproduce`: the number of claims with each verdict.

use std::fmt::Write as _;

use results::numbers::counted;
use shell::text::wrapping::wrapped;

use crate::reproduction::Tally;

pub(super) fn conclusion(tally: &Tally) -> String {
    let results::Tallies { source, ours } = tally.record();
    let mut text = format!("\n{}\n", line(&source, ""));
    if ours.claims > 0 {
        let _ = writeln!(text, "{}", line(&ours, " of this project, which no source makes"));
    }
    text + &unmet(tally)
}

pub(super) fn unmet(tally: &Tally) -> String {
    let mut text = String::new();
    let mut unmet = tally.source.unmet.iter().chain(&tally.ours.unmet).peekable();
    if unmet.peek().is_some() {
        text.push_str("not as expected:\n");
    }
    for says in unmet {
        let _ = writeln!(text, "{}", wrapped(says, "  ", "    "));
    }
    text
}

fn line(tally: &results::Tally, whose: &str) -> String {
    let counts = [
        (tally.holds, "holds", "hold"),
        (tally.holds_partly, "holds partly", "hold partly"),
        (tally.does_not_hold, "does not hold", "do not hold"),
        (tally.too_few_runs, "has too few runs to say", "have too few runs to say"),
        (tally.no_figure, "has no figure", "have no figure"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .enumerate()
        // The numbers of claims that hold, hold partly and do not hold are always printed, even if they are 0.
        .filter(|(place, (count, ..))| *place < 3 || *count > 0)
        .map(|(_, (count, one, several))| format!("{count} {}", if *count == 1 { one } else { several }))
        .collect();
    let (claims, expected) = (counted(tally.claims, "claim"), expected(tally));
    wrapped(&format!("{claims}{whose}: {}; {expected}", parts.join(", ")), "", "  ")
}

pub(super) fn expected(tally: &results::Tally) -> String {
    match (tally.as_expected, tally.not_as_expected) {
        (met, 0) if met == tally.claims => "all as expected".to_owned(),
        (met, 0) => format!("{met} as expected, none unexpected"),
        (met, unmet) => format!("{met} as expected, {unmet} not"),
    }
}
