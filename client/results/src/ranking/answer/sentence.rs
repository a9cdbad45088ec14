//! Answer of a comparison of strategies, in one to three sentences.

use std::fmt;

use super::{Answer, MIN_SEEDS, RankedBy, Row, RowRank, Times};
use crate::figures::numbers::{self, at_least, counted, dash, extremes, percent, thousands, three};
use crate::{Mode, Score};

const MAX_NAMED: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Words(String),
    Name(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    pub parts: Vec<Part>,
}

impl Sentence {
    pub fn markdown(&self) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Name(name) => format!("`{name}`"),
        };
        self.parts.iter().map(part).collect()
    }

    pub(super) fn words(mut self, words: impl Into<String>) -> Self {
        self.parts.push(Part::Words(words.into()));
        self
    }

    pub(super) fn name(mut self, name: &str) -> Self {
        self.parts.push(Part::Name(name.to_owned()));
        self
    }

    fn joined(mut self, other: Option<Self>) -> Self {
        self.parts.extend(other.into_iter().flat_map(|other| other.parts));
        self
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Words(text) | Part::Name(text) => f.write_str(text),
        })
    }
}

fn start(name: &str) -> Sentence {
    Sentence::default().name(name)
}

fn words(words: impl Into<String>) -> Sentence {
    Sentence::default().words(words)
}

/// Returns the names of strategies as a list, such as "a, b and c".
fn names(rows: &[&Row]) -> Sentence {
    rows.iter().enumerate().fold(Sentence::default(), |names, (place, row)| {
        let before = match place {
            0 => "",
            last if last + 1 == rows.len() => " and ",
            _ => ", ",
        };
        names.words(before).name(&row.strategy)
    })
}

impl Answer {
    pub fn sentences(&self, mode: Mode) -> Vec<Sentence> {
        let answer = self.headline();
        let runs = self.runs_text(mode);
        let mut sentences = match self.gave_up_text() {
            _ if self.seeds == 1 => vec![answer, words(runs)],
            Some(gave_up) => vec![answer, words(format!("{gave_up} {runs}"))],
            None => vec![answer.words(format!(" {runs}"))],
        };
        sentences.extend(self.early_requests());
        sentences
    }

    /// Says how many requests the winner sent although the server had asked its client to wait.
    fn early_requests(&self) -> Option<Sentence> {
        let best = self.ranked().next().filter(|best| best.early > 0.0)?;
        let per_run = best.early_text();
        // A fraction of a request is hard to imagine, so few requests are counted over all runs.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count")]
        let in_all = counted((best.early * self.seeds as f64).round() as u64, "request");
        let sent = match self.seeds {
            1 => in_all,
            seeds if per_run.contains('.') => format!("{in_all} in {seeds} runs"),
            _ => format!("{per_run} requests per run"),
        };
        let sent = format!(" sent {sent} while the server had asked this client to wait.");
        Some(start(&best.strategy).words(sent))
    }

    pub fn headline(&self) -> Sentence {
        match self.ranked().count() {
            0 => self.none_ranked(),
            _ if self.seeds < MIN_SEEDS => self.few_seeds(),
            1 => self.one_ranked(),
            _ => match self.ranked_by {
                RankedBy::Share => self.most_done(),
                RankedBy::Score | RankedBy::ScoreThenShare => self.first_by_score(),
            },
        }
    }

    fn none_ranked(&self) -> Sentence {
        let all: Vec<&Row> = self.rows.iter().filter(|row| row.place != RowRank::KnowsServer).collect();
        let stalled = all.iter().filter(|row| row.stopped_cell() == Some("stalled")).count();
        let interrupted = all.iter().filter(|row| row.stopped_cell() == Some("interrupted")).count();
        let others = all.len() - stalled - interrupted;
        let how =
            [(stalled, "stalled"), (interrupted, "were interrupted"), (others, "lack the ranked figure")];
        let how: Vec<String> =
            how.iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!("{count} {how}")).collect();
        let how = match (how.as_slice(), all.len()) {
            ([_], 1) => how.join("").replacen('1', "it", 1).replace("were", "was"),
            ([_], 2) => how.join("").replacen('2', "both", 1),
            ([only], _) => format!("all {only}"),
            _ => how.join(", "),
        };
        words(format!("No strategy can be ranked: {how}."))
    }

    fn few_seeds(&self) -> Sentence {
        let mut ranked = self.ranked();
        let (Some(best), second) = (ranked.next(), ranked.next()) else { return Sentence::default() };
        if self.ranked_by == RankedBy::Share {
            return self.most_done();
        }
        if self.seeds > 1 && second.is_some() {
            let first = self.firsts.iter().filter(|name| name.as_ref() == Some(&best.strategy)).count();
            if let (0, Some(second)) = (first, second) {
                let tie = format!(" tie in all {} runs; intervals need {MIN_SEEDS}.", self.seeds);
                return names(&[best, second]).words(tie);
            }
            return start(&best.strategy)
                .words(format!(" was first in {first} of {} runs; intervals need {MIN_SEEDS}.", self.seeds));
        }
        let second = second.filter(|row| row.figure.is_some());
        let value = self.value(best);
        let only = if self.seeds == 1 { " in the only run" } else { "" };
        if let Some(second) = second.filter(|second| self.value(second) == value) {
            return names(&[best, second]).words(format!(" tie{only}: {value}."));
        }
        let next = second
            .map(|second| words("; next ").name(&second.strategy).words(format!(", {}", self.value(second))));
        start(&best.strategy).words(format!(" {}{only}: {value}", self.won())).joined(next).words(".")
    }

    /// Returns the value of the ranked figure as text.
    fn value(&self, row: &Row) -> String {
        row.figure.map_or_else(dash, |value| self.by.cell(value))
    }

    fn one_ranked(&self) -> Sentence {
        let Some(best) = self.ranked().next() else { return Sentence::default() };
        if self.ranked_by == RankedBy::Share {
            return start(&best.strategy)
                .words(format!(" alone can be ranked: it did {}.", Self::share_and_cost(best)));
        }
        let value = self.value(best);
        let oracle = self.rows.iter().find(|row| row.place == RowRank::KnowsServer);
        let oracle = oracle.and_then(|oracle| Some((oracle, oracle.times_best?.inverse())));
        match oracle {
            Some((oracle, times)) if self.rows.len() == 2 => start(&best.strategy)
                .words(format!(" {} {value}, {} × the ", self.took(), three(times.ratio)))
                .name(&oracle.strategy)
                .words("."),
            _ => start(&best.strategy).words(format!(" alone can be ranked: {value}.")),
        }
    }

    fn first_by_score(&self) -> Sentence {
        let compared: Vec<&Row> = self.compared().collect();
        let Some(best) = compared.first() else { return Sentence::default() };
        let tied: Vec<&Row> = compared.iter().copied().filter(|row| row.rank() == best.rank()).collect();
        let of = match self.ranked_by {
            RankedBy::ScoreThenShare => match compared.len() {
                1 => " and alone did every op".to_owned(),
                several => format!(" of the {} that did every op", thousands(several as u64)),
            },
            _ => String::new(),
        };
        if tied.len() > 1 {
            return self.tie(&tied, &of);
        }
        let value = self.value(best);
        let first = start(&best.strategy);
        let Some(second) = self.next_best() else {
            if self.ranked_by == RankedBy::ScoreThenShare {
                let per_op = best.per_done.map(|per_op| format!(", {} attempts per op", three(per_op)));
                let per_op = per_op.unwrap_or_default();
                let next = self.ranked().nth(1).map(|next| {
                    let share = at_least(next.done, next.done_is_lower_bound);
                    words("; next ").name(&next.strategy).words(format!(", {share} of the ops"))
                });
                return first
                    .words(format!(" alone did every op{}: {value}{per_op}", self.within()))
                    .joined(next)
                    .words(".");
            }
            return first.words(format!(" {}{of}: {value}.", self.won()));
        };
        let ahead = second.times_best.map(|times| {
            let (ratio, range) = (times.ratio_text(), range(&times));
            if self.by == Score::makespan() {
                words(format!(", {ratio}× sooner than ")).name(&second.strategy).words(range)
            } else {
                words("; ").name(&second.strategy).words(format!(" had {ratio} × that{range}"))
            }
        });
        first
            .words(format!(" {}{of}: {value}", self.won()))
            .joined(ahead)
            .words(format!("{}.", self.companion_text(second)))
    }

    fn tie(&self, tied: &[&Row], of: &str) -> Sentence {
        let all = self.compared().count();
        let (low, high) = extremes(tied.iter().filter_map(|row| row.figure));
        let values = numbers::range(&self.by.cell(low), &self.by.cell(high));
        let is_same = |row: &&&Row| row.times_best.is_some_and(|times| times.is_within_two_percent());
        let is_same = tied.iter().filter(is_same).count() + 1 == tied.len();
        let fewest = self.thriftiest.as_deref();
        let companion = if self.by == Score::attempts() { " finishes first" } else { " has fewest attempts" };
        let for_first = if self.by == Score::makespan() {
            "for first".to_owned()
        } else {
            format!("for the lowest {}", self.by_name())
        };
        if tied.len() > MAX_NAMED {
            let companion = companion.replace(" has", " with").replace(" finishes", " finishing");
            let with = fewest.map(|fewest| words(", ").name(fewest).words(companion));
            return words(format!("{} of {all} strategies tie {for_first}{of}", tied.len()))
                .joined(with)
                .words(format!(": {values}."));
        }
        let fewest = fewest.map(|fewest| words("; ").name(fewest).words(companion));
        let tie = if is_same {
            format!(" are the same to within 2 %{of}: {values}")
        } else {
            format!(" tie {for_first}{of}: {values}, not distinguishable")
        };
        names(tied).words(tie).joined(fewest).words(".")
    }

    fn companion_text(&self, second: &Row) -> String {
        let is_attempts = self.by != Score::attempts();
        let times = if is_attempts { second.attempts_times_best } else { second.makespan_times_best };
        let Some(times) = times.filter(|times| !times.may_be_one()) else { return String::new() };
        let is_more = times.ratio > 1.0;
        let shown = if is_more { times } else { times.inverse() };
        let range = range(&shown);
        // If the sentence is about the makespan, its subject is the best strategy. If the sentence is about another score, its subject is
        // the second best strategy.
        let words = match (self.by == Score::makespan(), is_attempts, is_more) {
            (true, _, true) | (false, true, false) => "fewer attempts",
            (true, _, false) | (false, true, true) => "more attempts",
            (false, false, true) => return format!(", and finished {}× later{range}", shown.ratio_text()),
            (false, false, false) => return format!(", and finished {}× sooner{range}", shown.ratio_text()),
        };
        format!(", with {}× {words}{range}", shown.ratio_text())
    }

    fn most_done(&self) -> Sentence {
        let ranked: Vec<&Row> = self.ranked().collect();
        let Some(best) = ranked.first() else { return Sentence::default() };
        if best.done <= 0.0 {
            return words(format!("No strategy got an op done{}.", self.within()));
        }
        let tied: Vec<&Row> = ranked.iter().copied().filter(|row| row.rank() == best.rank()).collect();
        if tied.len() > 1 {
            let (low, high) = extremes(tied.iter().map(|row| row.done));
            let shares = numbers::range(&percent(low), &percent(high));
            let names = if tied.len() > MAX_NAMED {
                words(format!("{} of {} strategies", tied.len(), ranked.len()))
            } else {
                names(&tied)
            };
            let fewest = self.thriftiest.as_deref();
            let fewest = fewest.map(|fewest| words("; ").name(fewest).words(" needs fewest attempts"));
            let times =
                || tied.iter().filter_map(|row| row.times_best).filter(|times| times.interval.is_some());
            let how = if percent(low) == percent(high) {
                ""
            } else if times().all(|times| times.is_within_two_percent()) {
                ", the same to within 2 %"
            } else {
                ", not distinguishable"
            };
            let tie = format!(" tie for most done{}: {shares} of the ops{how}", self.within());
            return names.words(tie).joined(fewest).words(".");
        }
        let got = if self.limit.is_some() { "did most" } else { "got most done" };
        start(&best.strategy)
            .words(format!(" {got}{}: {}", self.within(), Self::share_and_cost(best)))
            .joined(self.next_best().map(Self::next_share))
            .words(".")
    }

    fn next_share(second: &Row) -> Sentence {
        let next = words("; next ").name(&second.strategy);
        match second.times_best {
            Some(times) => next.words(format!(", {} of that{}", times.ratio_text(), range(&times))),
            None => next.words(format!(", {}", at_least(second.done, second.done_is_lower_bound))),
        }
    }

    fn share_and_cost(row: &Row) -> String {
        let share = at_least(row.done, row.done_is_lower_bound);
        let cost = row.per_done.map(|cost| format!(", at {} attempts each", three(cost))).unwrap_or_default();
        format!("{share} of the ops{cost}")
    }

    fn within(&self) -> String {
        self.limit_text().map_or_else(String::new, |limit| format!(" within {limit}"))
    }

    fn won(&self) -> String {
        match self.by {
            by if by == Score::makespan() => "finished first".to_owned(),
            by if by == Score::attempts() => "needed fewest attempts".to_owned(),
            _ => format!("had the lowest {}", self.by_name()),
        }
    }

    fn took(&self) -> &'static str {
        if self.by == Score::makespan() { "took" } else { "needed" }
    }

    fn by_name(&self) -> &'static str {
        match self.by.key() {
            "mean" => "mean latency",
            "max" => "maximum latency",
            "attempts" => "number of attempts",
            "per-success" => "number of attempts per done op",
            "server-work" => "server work",
            key => key,
        }
    }

    fn gave_up_text(&self) -> Option<String> {
        if self.ranked_by != RankedBy::ScoreThenShare || self.seeds < MIN_SEEDS {
            return None;
        }
        let short = self.ranked().filter(|row| !row.is_comparable).count();
        let strategies = match short {
            1 => "1 strategy".to_owned(),
            several => format!("{several} strategies"),
        };
        let late = self
            .limit_text()
            .map_or_else(|| "gave up ops".to_owned(), |limit| format!("did not do every op within {limit}"));
        (short > 0).then(|| format!("{strategies} {late}."))
    }

    fn runs_text(&self, mode: Mode) -> String {
        let mode = if mode == Mode::Simulated { ", simulated" } else { " over HTTP" };
        match self.seeds {
            1 => format!("1 seed{mode}; intervals need {MIN_SEEDS} (--repeats {MIN_SEEDS})."),
            seeds => format!("{}{mode}.", counted(seeds as u64, "paired seed")),
        }
    }
}

impl Row {
    fn rank(&self) -> Option<u64> {
        match self.place {
            RowRank::Ranked { rank, .. } => Some(rank),
            _ => None,
        }
    }
}

fn range(times: &Times) -> String {
    times.range_text().map(|range| format!(" ({range})")).unwrap_or_default()
}
