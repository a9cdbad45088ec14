//! What the best of a sweep comes to on fresh seeds.

use results::numbers::{counted, short};
use results::{Best, Score, Standing, Winner};
use statistics::Verdict;

use super::pair::Pair;
use crate::runs::point::Situation;

/// What a choice came to on fresh seeds.
pub struct Estimate {
    /// Within which the best was chosen.
    pub(super) situation: Situation,
    /// The best's mean in the sweep, as its table shows it.
    pub(super) in_sweep: Option<f64>,
    pub(super) by: Score,
    /// The best of the sweep.
    pub(super) best: String,
    pub(super) standings: Vec<Standing>,
    /// How the best and the second best compare.
    pub pairs: Vec<Pair>,
    pub(super) blocks: usize,
}

impl Estimate {
    fn of_best(&self) -> Option<&Standing> {
        self.standings.iter().find(|standing| standing.strategy == self.best)
    }

    fn complete(&self) -> Vec<&Standing> {
        self.standings.iter().filter(|standing| standing.is_complete()).collect()
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
    pub fn words(&self) -> String {
        let Self { by, best, blocks, .. } = self;
        let situation = self.situation.to_string();
        let lead = if situation.is_empty() { String::new() } else { format!("{situation}: ") };
        let seeds = counted(*blocks as u64, "fresh seed");
        let (name, unit) = (by.name(), by.unit());
        let fresh = self.of_best().filter(|best| best.is_complete()).and_then(|best| best.figure(by.path()));
        let fresh = match fresh {
            Some(figure) => format!("{}{unit} on {seeds}", short(figure.mean)),
            None => format!("not every op done on {seeds}"),
        };
        let in_sweep = self.in_sweep.map_or_else(|| "–".to_owned(), short);
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

    /// As it is written.
    pub fn record(&self) -> Best {
        let of_best = self.of_best();
        Best {
            at: self.situation.at(),
            strategy: Some(self.best.clone()),
            winner: Winner::Said(self.winner().map(ToOwned::to_owned)),
            words: self.words(),
            figure: self.by.path().to_owned(),
            in_sweep: self.in_sweep,
            fresh: of_best.and_then(|standing| standing.figure(self.by.path())).map(Into::into),
            complete: of_best.is_some_and(Standing::is_complete),
            pairs: self.pairs.iter().map(Pair::record).collect(),
        }
    }
}
