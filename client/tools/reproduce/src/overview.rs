//! Summary table of several reproduced documents: one line per document, followed by hints at further output.

use results::ClaimVerdict;
use shell::text::figures::{counted, thousands};
use shell::text::wrapping::{columns, side_by_side};

use crate::reproduction::{Counts, Reproduction, Tally};
use crate::scenario::Judged;
use crate::table::claim;
use crate::tally::{expected, unmet};

/// Width in terminal columns of the table before a document's title.
const BEFORE_TITLE: usize = 49;

pub(super) fn overview(judged: &[(&Reproduction, Vec<Judged<'_>>)], tally: &Tally, explain: bool) -> String {
    let mut text = line("document", ["holds", "partly", "not", "of"].map(str::to_owned), "");
    for (reproduction, claims) in judged {
        let scenario = &reproduction.scenario;
        let counts = counts(claims);
        let title = scenario.short_title.as_ref().unwrap_or(&scenario.title);
        text.push_str(&line(&scenario.name, counts, title));
    }
    let claims = counted(tally.source.claims() as u64, "claim");
    let one = judged.last().map_or("NAME", |(last, _)| last.scenario.name.as_str());
    let verdict = expected(&tally.source);
    text.push('\n');
    let all = format!("{claims}, {verdict}.  One: loadgen reproduce {one}");
    text.push_str(&side_by_side(&[&all, "All: --html FILE"], columns()));
    let mut pointers = Vec::new();
    pointers.extend((!explain).then(|| "List claims that do not hold: --explain".to_owned()));
    if tally.ours.claims() > 0 {
        let ours = thousands(tally.ours.claims() as u64);
        pointers.push(format!("{ours} more, in no source: {}", expected(&tally.ours)));
    }
    pointers.extend(unjudged(&tally.source));
    text.push_str(&side_by_side(&pointers.iter().map(String::as_str).collect::<Vec<_>>(), columns()));
    text.push_str(&unmet(tally));
    if explain {
        for (reproduction, claims) in judged {
            text.push_str(&failing(reproduction, claims));
        }
    }
    text
}

/// Counts the claims of the scenario's source. Returns the numbers of claims that hold, that hold partly and that do not hold, and then the
/// number of all claims.
fn counts(claims: &[Judged<'_>]) -> [String; 4] {
    let source: Vec<ClaimVerdict> =
        claims.iter().filter(|judged| !judged.claim.ours).map(|judged| judged.verdict).collect();
    let with = |verdict| source.iter().filter(|one| **one == verdict).count();
    let [holds, partly, not] =
        [ClaimVerdict::Holds, ClaimVerdict::HoldsPartly, ClaimVerdict::DoesNotHold].map(with);
    [holds, partly, not, source.len()].map(|count| thousands(count as u64))
}

fn line(name: &str, [holds, partly, not, all]: [String; 4], title: &str) -> String {
    let room = columns().saturating_sub(BEFORE_TITLE).max(1);
    let title = match title.chars().count() {
        length if length <= room => title.to_owned(),
        _ => format!("{}…", title.chars().take(room - 1).collect::<String>().trim_end()),
    };
    let line = format!("{name:<20}{holds:>7}{partly:>8}{not:>6}{all:>5}   {title}");
    format!("{}\n", line.trim_end())
}

fn unjudged(counts: &Counts) -> Option<String> {
    let unjudged = counts.with(ClaimVerdict::TooFewRuns) + counts.with(ClaimVerdict::NoFigure);
    (unjudged > 0).then(|| format!("{} without a verdict", thousands(unjudged as u64)))
}

fn failing(reproduction: &Reproduction, claims: &[Judged<'_>]) -> String {
    let failing: Vec<&Judged<'_>> =
        claims.iter().filter(|judged| judged.verdict != ClaimVerdict::Holds).collect();
    if failing.is_empty() {
        return String::new();
    }
    let scenario = &reproduction.scenario;
    format!(
        "\n{} · {}\n{}",
        scenario.name,
        scenario.title,
        failing.into_iter().map(claim).collect::<String>()
    )
}
