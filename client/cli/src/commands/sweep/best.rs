//! The best point of a sweep, estimated again: whoever is picked as the best of many was partly lucky.

use std::fmt::Write as _;

use experiments::runs::blocks::Measured;
use loadgen_core::RunConfig;
use results::{Best, Score, Standing, Winner};
use statistics::Verdict;

use super::axis::{Axis, Key};
use super::cell::Cell;
use super::point::Point;
use crate::commands::compare::{Pair, every_pair, standings};
use crate::files::exporter::at;
use crate::settings::Settings;
use crate::text::figures::{counted, short};
use crate::text::wrapping::wrapped;

/// Keys and values of what no client chooses, such as the workload.
type Situation = Vec<(String, String)>;

/// A choice to be made: what is best in this situation.
pub(super) struct Choice {
    situation: Situation,
    /// The best and the second best in the sweep, with fresh seeds.
    pub(super) settings: Vec<Settings>,
    /// Index of their point.
    pub(super) point: usize,
    /// The best's mean in the sweep, as the table shows it.
    in_sweep: Option<f64>,
}

/// What the choice came to on fresh seeds.
pub(super) struct Estimate {
    choice: Choice,
    by: Score,
    best: String,
    standings: Vec<Standing>,
    pairs: Vec<Pair>,
    blocks: usize,
}

/// One choice per situation in which at least two candidates did every op.
pub(super) fn choices(axes: &[Axis], points: &[Point], cells: &[Cell], by: Score) -> Vec<Choice> {
    let mut situations: Vec<(Situation, Vec<&Cell>)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.standing.is_complete() && !cell.standing.foresees) {
        let flags = axes.iter().zip(&points[cell.point].at);
        let situation: Situation = flags
            .filter(|(axis, _)| matches!(axis.key, Key::Flag(_)))
            .map(|(axis, value)| (axis.key.to_string(), value.clone()))
            .collect();
        match situations.iter_mut().find(|(there, _)| *there == situation) {
            Some((_, candidates)) => candidates.push(cell),
            None => situations.push((situation, vec![cell])),
        }
    }
    situations
        .into_iter()
        .filter_map(|(situation, candidates)| choice(situation, candidates, points, by))
        .collect()
}

fn choice(situation: Situation, mut candidates: Vec<&Cell>, points: &[Point], by: Score) -> Option<Choice> {
    let score = |cell: &Cell| cell.standing.score(by);
    candidates.sort_by(|one, other| score(one).total_cmp(&score(other)));
    // A strategy that has no varied parameter is the same at every point.
    candidates.dedup_by(|later, earlier| later.standing.strategy == earlier.standing.strategy);
    let [best, second, ..] = candidates[..] else { return None };
    let fresh = |cell: &Cell| {
        let settings = &points[cell.point].settings[cell.strategy];
        let seed = settings.run.seed.wrapping_add(u64::from(settings.repeats));
        Settings { run: RunConfig { seed, ..settings.run.clone() }, ..settings.clone() }
    };
    Some(Choice {
        situation,
        settings: vec![fresh(best), fresh(second)],
        point: best.point,
        in_sweep: best.standing.figure(by.path()).map(|figure| figure.mean),
    })
}

impl Choice {
    /// The situation in words.
    pub(super) fn name(&self) -> String {
        let pairs: Vec<String> = self.situation.iter().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(", ")
    }

    /// What it came to.
    pub(super) fn estimated(self, measured: &Measured, by: Score) -> Estimate {
        let standings = standings(&self.settings, measured, by);
        let seed = self.settings.first().map_or(0, |settings| settings.run.seed);
        let pairs = every_pair(&standings, by, seed);
        let best = self.settings.first().map_or_else(String::new, |best| best.strategy.to_string());
        Estimate { choice: self, by, best, standings, pairs, blocks: measured.blocks() }
    }
}

impl Estimate {
    fn of_best(&self) -> Option<&Standing> {
        self.standings.iter().find(|one| one.strategy == self.best)
    }

    fn complete(&self) -> Vec<&Standing> {
        self.standings.iter().filter(|one| one.is_complete()).collect()
    }

    /// Who has the least on fresh seeds, by more than chance; none when that cannot be told: a tie is nobody's win.
    fn winner(&self) -> Option<&str> {
        match self.complete().as_slice() {
            [] => None,
            [only] => Some(&only.strategy),
            _ => self.pairs.first().and_then(|pair| match pair.verdict()? {
                Verdict::Lower => Some(pair.first.as_str()),
                Verdict::Higher => Some(pair.second.as_str()),
                Verdict::TooFew | Verdict::NotDistinguishable | Verdict::Equivalent => None,
            }),
        }
    }

    /// What people read, without a full stop.
    fn words(&self) -> String {
        let Self { choice, by, best, blocks, .. } = self;
        let situation = choice.name();
        let lead = if situation.is_empty() { String::new() } else { format!("{situation}: ") };
        let seeds = counted(*blocks as u64, "fresh seed");
        let (name, unit) = (by.name(), by.unit());
        let fresh = self.of_best().filter(|best| best.is_complete()).and_then(|best| best.figure(by.path()));
        let fresh = match fresh {
            Some(figure) => format!("{}{unit} on {seeds}", short(figure.mean)),
            None => format!("not every op done on {seeds}"),
        };
        let in_sweep = choice.in_sweep.map_or_else(|| "–".to_owned(), short);
        if let (None, [first, second]) = (self.winner(), self.complete().as_slice()) {
            let other = if first.strategy == *best { second } else { first };
            let tie = match self.pairs.first().and_then(Pair::verdict) {
                Some(Verdict::TooFew) => {
                    format!("too few repeats to say who has the least {name}, {best} or {}", other.strategy)
                }
                _ => format!("{best} and {} tie for the least {name}", other.strategy),
            };
            return format!("{lead}{tie}: {best} comes to {fresh} ({in_sweep}{unit} in the sweep)");
        }
        match self.standings.first().filter(|first| first.is_complete() && first.strategy != *best) {
            None => format!("{lead}{best} has the least {name}: {fresh} ({in_sweep}{unit} in the sweep)"),
            Some(other) => format!(
                "{lead}{best} had the least {name} in the sweep ({in_sweep}{unit}), but {} has it on fresh seeds: {best} \
                 comes to {fresh}",
                other.strategy
            ),
        }
    }

    /// The same, and how the best and the second best compare.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n", wrapped(&self.words(), "  ", "    "));
        for pair in &self.pairs {
            let _ = writeln!(text, "{}", wrapped(&pair.words(), "    ", "      "));
        }
        text
    }

    /// As it is written.
    pub(super) fn record(&self) -> Best {
        let of_best = self.of_best();
        let situation = self.choice.situation.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        Best {
            at: at(situation),
            strategy: Some(self.best.clone()),
            winner: Winner::Said(self.winner().map(ToOwned::to_owned)),
            words: self.words(),
            figure: self.by.path().to_owned(),
            in_sweep: self.choice.in_sweep,
            fresh: of_best.and_then(|standing| standing.figure(self.by.path())).map(Into::into),
            complete: of_best.is_some_and(Standing::is_complete),
            pairs: self.pairs.iter().map(Pair::record).collect(),
        }
    }
}
