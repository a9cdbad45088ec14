//! Estimate of the figures at the best point of a sweep, from runs with fresh seeds.

use results::numbers::{counted, short};
use results::{Best, RankedStrategy, Score, Winner};
use statistics::PairOutcome;

use crate::evaluation::pairs::Pair;
use crate::runs::point::SweepPoint;

pub struct Estimate {
    pub(super) situation: SweepPoint,
    pub(super) in_sweep: [RankedStrategy; 2],
    pub(super) by: Score,
    pub(super) standings: Vec<RankedStrategy>,
    /// Ranks and figures of all strategies that ran with the fresh seeds.
    pub(super) all: Vec<RankedStrategy>,
    /// Comparisons of the best two strategies in the figure that decides the ranking. If the strategies tie in this figure, they are also
    /// compared in the companion score (attempts or makespan).
    pub pairs: Vec<Pair>,
    pub(super) range_ends: [Option<String>; 2],
    pub(super) blocks: usize,
}

impl Estimate {
    fn best(&self) -> &str {
        &self.in_sweep[0].strategy
    }

    fn of_best(&self) -> Option<&RankedStrategy> {
        self.standings.iter().find(|standing| standing.strategy == self.best())
    }

    /// Returns true if the best two strategies did not do the same work. The share of ops done then decides between them.
    fn is_by_share(&self) -> bool {
        let unequal =
            |standings: &[RankedStrategy]| standings.iter().any(|standing| !standing.is_comparable());
        unequal(&self.in_sweep) || unequal(&self.standings)
    }

    fn figure(&self) -> Score {
        if self.is_by_share() { Score::done_share() } else { self.by }
    }

    fn winner(&self) -> Option<&str> {
        let ranked: Vec<&RankedStrategy> =
            self.standings.iter().filter(|standing| standing.rank.is_some()).collect();
        match ranked.as_slice() {
            [] => None,
            [first, second, ..] if first.is_tied && second.is_tied || self.has_too_few_runs() => None,
            [first, ..] => Some(&first.strategy),
        }
    }

    fn has_too_few_runs(&self) -> bool {
        self.pairs.first().and_then(Pair::verdict) == Some(PairOutcome::TooFew)
    }

    fn value(&self, standing: &RankedStrategy) -> Option<String> {
        if self.is_by_share() {
            return Some(format!("{} of the ops", standing.share_text()));
        }
        let figure = standing.figure(self.by.path()).filter(|_| standing.is_complete())?;
        Some(format!("{}{}", short(figure.mean), self.by.unit()))
    }

    pub fn situation(&self) -> &SweepPoint {
        &self.situation
    }

    pub fn fresh(&self) -> &[RankedStrategy] {
        &self.all
    }

    pub fn words(&self) -> String {
        let best = self.best();
        let situation = self.situation.to_string();
        let lead = if situation.is_empty() { String::new() } else { format!("{situation}: ") };
        let seeds = counted(self.blocks as u64, "fresh seed");
        let fresh = match self.of_best().and_then(|best| self.value(best)) {
            Some(value) => format!("{value} on {seeds}"),
            None => format!("not every op done on {seeds}"),
        };
        let in_sweep = self.value(&self.in_sweep[0]).unwrap_or_else(|| "–".to_owned());
        let (most, has, had, it) = if self.is_by_share() {
            ("most ops done".to_owned(), "gets", "got", "does")
        } else {
            (format!("the least {}", self.by.name()), "has", "had", "has it")
        };
        let first = self.standings.iter().find(|standing| standing.rank.is_some());
        let words = match (self.winner(), first) {
            (None, Some(first)) => {
                let other = &self.in_sweep[1].strategy;
                let tie = if self.has_too_few_runs() {
                    format!("too few repeats to decide whether {best} or {other} {has} {most}")
                } else {
                    format!("{best} and {other} tie for {most}{}", self.cheaper(first))
                };
                format!("{tie}: {best} yields {fresh} ({in_sweep} in the sweep)")
            }
            (Some(winner), _) if winner != best => format!(
                "{best} {had} {most} in the sweep ({in_sweep}), but {winner} {it} on fresh seeds: {best} yields {fresh}"
            ),
            _ => format!("{best} {has} {most}: {fresh} ({in_sweep} in the sweep)"),
        };
        let end =
            first.and_then(|first| self.range_end(first)).map_or_else(String::new, |end| format!("; {end}"));
        format!("{lead}{words}{end}")
    }

    fn cheaper(&self, first: &RankedStrategy) -> String {
        let of_attempts =
            |pair: &&Pair| [Score::attempts(), Score::attempts_per_success()].contains(&pair.score);
        if self.pairs.iter().filter(of_attempts).any(Pair::is_apart) {
            format!(", {} with fewer attempts", first.strategy)
        } else {
            String::new()
        }
    }

    fn range_end(&self, standing: &RankedStrategy) -> Option<&str> {
        let place = self.in_sweep.iter().position(|there| there.strategy == standing.strategy)?;
        self.range_ends[place].as_deref()
    }

    pub fn record(&self) -> Best {
        let (of_best, path) = (self.of_best(), self.figure().path());
        Best {
            at: self.situation.at(),
            strategy: Some(self.best().to_owned()),
            winner: Winner::Known(self.winner().map(ToOwned::to_owned)),
            words: self.words(),
            figure: path.to_owned(),
            in_sweep: self.in_sweep[0].figure(path).map(|figure| figure.mean),
            fresh: of_best.and_then(|standing| standing.figure(path)).map(Into::into),
            complete: of_best.is_some_and(RankedStrategy::is_complete),
            pairs: self.pairs.iter().map(Pair::record).collect(),
            lead: None,
        }
    }
}
