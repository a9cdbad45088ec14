//! Last line printed by `loadgen reproduce`: the number of claims with each verdict.

use std::fmt::Write as _;

use results::ClaimVerdict;
use results::numbers::counted;
use shell::text::wrapping::wrapped;

use crate::reproduction::{Counts, Tally};

/// Verdicts on claims, each with its verb phrase for one claim and for several claims.
const VERDICTS: [(ClaimVerdict, &str, &str); 5] = [
    (ClaimVerdict::Holds, "holds", "hold"),
    (ClaimVerdict::HoldsPartly, "holds partly", "hold partly"),
    (ClaimVerdict::DoesNotHold, "does not hold", "do not hold"),
    (ClaimVerdict::TooFewRuns, "has too few runs to say", "have too few runs to say"),
    (ClaimVerdict::NoFigure, "has no figure", "have no figure"),
];

pub(super) fn conclusion(tally: &Tally) -> String {
    let mut text = format!("\n{}\n", line(&tally.source, "claim", ""));
    if tally.ours.claims() > 0 {
        let _ = writeln!(text, "{}", line(&tally.ours, "claim", " of this project, which no source makes"));
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

fn line(counts: &Counts, one: &str, whose: &str) -> String {
    let all = counts.claims();
    let parts: Vec<String> = VERDICTS
        .iter()
        .map(|(verdict, does, do_)| (counts.with(*verdict), does, do_))
        // The verdicts `Holds`, `HoldsPartly` and `DoesNotHold` come first. Their counts are always printed, even if they are 0.
        .enumerate()
        .filter(|(place, (count, ..))| *place < 3 || *count > 0)
        .map(|(_, (count, does, do_))| format!("{count} {}", if count == 1 { does } else { do_ }))
        .collect();
    let expected = expected(counts);
    let line = format!("{}{whose}: {}; {expected}", counted(all as u64, one), parts.join(", "));
    wrapped(&line, "", "  ")
}

pub(super) fn expected(counts: &Counts) -> String {
    match (counts.as_expected, counts.unmet.len()) {
        (met, 0) if met == counts.claims() => "all as expected".to_owned(),
        (met, 0) => format!("{met} as expected, none unexpected"),
        (met, unmet) => format!("{met} as expected, {unmet} not"),
    }
}
