//! How many claims came out how: the last line of a reproduction.

use std::fmt::Write as _;

use experiments::scenario::{Judged, Verdict};
use serde_json::{Value, json};

use crate::text::figures::counted;

/// Claims by their verdicts; those that a scenario makes itself are counted apart.
#[derive(Debug, Default)]
pub(super) struct Tally {
    source: Counts,
    ours: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    /// In the order of [`VERDICTS`].
    by_verdict: [usize; 5],
    as_expected: usize,
    /// What did not come out as expected.
    unmet: Vec<String>,
}

/// Every verdict, its key in JSON, and what claims with it do: one of them, and several.
const VERDICTS: [(Verdict, &str, &str, &str); 5] = [
    (Verdict::Holds, "holds", "holds", "hold"),
    (Verdict::HoldsPartly, "holds_partly", "holds partly", "hold partly"),
    (Verdict::DoesNotHold, "does_not_hold", "does not hold", "do not hold"),
    (Verdict::TooFewRuns, "too_few_runs", "has too few runs to say", "have too few runs to say"),
    (Verdict::NoFigure, "no_figure", "has no figure", "have no figure"),
];

impl Tally {
    /// Counts the claims of a scenario.
    pub(super) fn add(&mut self, judged: &[Judged<'_>]) {
        for one in judged {
            let counts = if one.claim.ours { &mut self.ours } else { &mut self.source };
            let place = VERDICTS.iter().position(|(verdict, ..)| *verdict == one.verdict);
            counts.by_verdict[place.expect("every verdict is listed")] += 1;
            match one.as_expected() {
                Some(true) => counts.as_expected += 1,
                Some(false) => counts.unmet.push(one.claim.says.clone()),
                None => {}
            }
        }
    }

    /// Whether every claim that could be judged came out as expected.
    pub(super) fn is_as_expected(&self) -> bool {
        self.source.unmet.is_empty() && self.ours.unmet.is_empty()
    }

    /// The last line, and what did not come out as expected.
    pub(super) fn conclusion(&self) -> String {
        let mut text = format!("\n{}\n", self.source.line("claim", ""));
        if self.ours.all() > 0 {
            let _ = writeln!(text, "{}", self.ours.line("claim", " of ours, which no source makes"));
        }
        let mut unmet = self.source.unmet.iter().chain(&self.ours.unmet).peekable();
        if unmet.peek().is_some() {
            text.push_str("not as expected:\n");
        }
        for says in unmet {
            let _ = writeln!(text, "  {says}");
        }
        text
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        json!({ "source": self.source.json(), "ours": self.ours.json() })
    }
}

impl Counts {
    fn all(&self) -> usize {
        self.by_verdict.iter().sum()
    }

    fn line(&self, one: &str, whose: &str) -> String {
        let all = self.all();
        let parts: Vec<String> = VERDICTS
            .iter()
            .zip(self.by_verdict)
            // The first three are always said: none is a number, too.
            .enumerate()
            .filter(|(place, (_, count))| *place < 3 || *count > 0)
            .map(|(_, ((_, _, does, do_), count))| format!("{count} {}", if count == 1 { does } else { do_ }))
            .collect();
        let expected = match (self.as_expected, self.unmet.len()) {
            (met, 0) if met == all => "all as expected".to_owned(),
            (met, 0) => format!("{met} as expected, none otherwise"),
            (met, unmet) => format!("{met} as expected, {unmet} not"),
        };
        format!("{}{whose}: {}; {expected}", counted(all as u64, one), parts.join(", "))
    }

    fn json(&self) -> Value {
        let mut counts: serde_json::Map<String, Value> = VERDICTS
            .iter()
            .zip(self.by_verdict)
            .map(|((_, key, ..), count)| ((*key).to_owned(), json!(count)))
            .collect();
        counts.insert("claims".to_owned(), json!(self.all()));
        counts.insert("as_expected".to_owned(), json!(self.as_expected));
        counts.insert("not_as_expected".to_owned(), json!(self.unmet.len()));
        Value::Object(counts)
    }
}
