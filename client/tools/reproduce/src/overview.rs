//! Summary table of several reproduced documents: one line per document, followed by hints at further output.

use results::ClaimVerdict;
use shell::text::figures::{counted, thousands};
use shell::text::wrapping::{columns, side_by_side};

use crate::reproduction::{Reproduction, Tally};
use crate::scenario::Judged;
use crate::table::claim;
use crate::tally::{expected, unmet};

/// Width in terminal columns of the table before a document's title.
const BEFORE_TITLE: usize = 49;

pub(super) fn overview(judged: &[(&Reproduction, Vec<Judged<'_>>)], tally: &Tally, explain: bool) -> String {
    let mut text = line("document", ["holds", "partly", "not", "of"].map(str::to_owned), "");
    for (Reproduction { scenario, .. }, claims) in judged {
        let mut own = Tally::default();
        own.add(claims);
        let own = own.source.tally;
        let counts = [own.holds, own.holds_partly, own.does_not_hold, own.claims].map(thousands);
        let title = scenario.short_title.as_ref().unwrap_or(&scenario.title);
        text.push_str(&line(&scenario.name, counts, title));
    }
    let results::Tallies { source, ours } = tally.record();
    let claims = counted(source.claims, "claim");
    let one = judged.last().map_or("NAME", |(last, _)| last.scenario.name.as_str());
    let verdict = expected(&source);
    text.push('\n');
    let all = format!("{claims}, {verdict}.  One: loadgen reproduce {one}");
    text.push_str(&side_by_side(&[&all, "All: --html FILE"], columns()));
    let mut pointers = Vec::new();
    pointers.extend((!explain).then(|| "List claims that do not hold: --explain".to_owned()));
    if ours.claims > 0 {
        pointers.push(format!("{} more, in no source: {}", thousands(ours.claims), expected(&ours)));
    }
    let unjudged = source.too_few_runs + source.no_figure;
    pointers.extend((unjudged > 0).then(|| format!("{} without a verdict", thousands(unjudged))));
    text.push_str(&side_by_side(&pointers.iter().map(String::as_str).collect::<Vec<_>>(), columns()));
    text.push_str(&unmet(tally));
    if explain {
        for (reproduction, claims) in judged {
            text.push_str(&failing(reproduction, claims));
        }
    }
    text
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

fn failing(Reproduction { scenario, .. }: &Reproduction, claims: &[Judged<'_>]) -> String {
    let mut failing = claims.iter().filter(|judged| judged.verdict != ClaimVerdict::Holds).peekable();
    if failing.peek().is_none() {
        return String::new();
    }
    format!("\n{} · {}\n{}", scenario.name, scenario.title, failing.map(claim).collect::<String>())
}
