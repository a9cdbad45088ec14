//! Selection of the pairs of strategies to compare, and correction of p values for multiple comparisons.

use results::numbers::{level, ratio_decimals};
use results::{PairRecord, RankedStrategy, Score, best_that_can_be_had};
use statistics::{
    Comparison, Incomparable, Level, Margin, Method, PairOutcome, PairedRatio, holm, holm_levels,
};

/// Maximum number of comparisons for which a bootstrap is used. With more comparisons, even the smallest p value of a bootstrap would be
/// too large after the correction for multiple comparisons.
const MAX_RESAMPLED: usize = 100;

/// Compares, in the given score, every two strategies that did the same work. The better ranked strategy of a pair comes first. The p
/// values are corrected for the number of all pairs, because the best strategy was not known before the runs.
pub fn every_pair(standings: &[RankedStrategy], score: Score, seed: u64) -> Vec<Pair> {
    compared(&every_two(standings, RankedStrategy::is_comparable), score, seed)
}

/// Compares every two ranked strategies that did not do the same work. The better ranked strategy of a pair comes first. A pair is compared
/// in the share of ops done or, if this share is equal, in attempts per success. The p values of each of the two figures are corrected for
/// the number of pairs that are compared in this figure.
pub fn pairs_by_share(standings: &[RankedStrategy], seed: u64) -> Vec<Pair> {
    let mut pairs = every_two(standings, |standing| standing.rank.is_some());
    pairs.retain(|(first, second)| !(first.is_comparable() && second.is_comparable()));
    let (level, apart): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(first, second)| first.tier == second.tier);
    let mut found = compared(&apart, Score::done_share(), seed);
    found.extend(compared(&level, Score::attempts_per_success(), seed));
    found
}

fn every_two(
    standings: &[RankedStrategy],
    which: impl Fn(&RankedStrategy) -> bool,
) -> Vec<(&RankedStrategy, &RankedStrategy)> {
    let those: Vec<&RankedStrategy> = standings.iter().filter(|standing| which(standing)).collect();
    let mut pairs = Vec::new();
    for (rank, first) in those.iter().enumerate() {
        pairs.extend(those[rank + 1..].iter().map(|second| (*first, *second)));
    }
    pairs
}

/// Compares the best strategy with every other one in a score that does not decide the ranking. Oracles (strategies that know the server's
/// configuration in advance) are excluded.
pub fn best_against_others(standings: &[RankedStrategy], score: Score, seed: u64) -> Vec<Pair> {
    let best = best_that_can_be_had(standings).filter(|best| best.is_comparable());
    let Some(best) = best else { return Vec::new() };
    let others = standings.iter().filter(|standing| standing.is_comparable() && !standing.foresees);
    let pairs: Vec<_> =
        others.filter(|other| other.strategy != best.strategy).map(|other| (best, other)).collect();
    compared(&pairs, score, seed)
}

fn compared(pairs: &[(&RankedStrategy, &RankedStrategy)], score: Score, seed: u64) -> Vec<Pair> {
    let resampled = pairs.len() <= MAX_RESAMPLED;
    let method = if resampled { Method::BySize { seed } } else { Method::StudentT };
    let ratio = |(first, second): &(&RankedStrategy, &RankedStrategy), level| {
        let comparison = Comparison { level, method, margin: Margin::TWO_PERCENT };
        PairedRatio::new(first.values(score), second.values(score), comparison)
    };
    let alone: Vec<_> = pairs.iter().map(|pair| ratio(pair, Level::P95)).collect();
    // A pair without a p value could not be compared. It is therefore not counted in the correction for multiple comparisons.
    let p_values: Vec<f64> =
        alone.iter().filter_map(|found| found.as_ref().ok().and_then(|found| found.p_value)).collect();
    let mut corrected = holm(&p_values).into_iter().zip(holm_levels(&p_values, Level::P95));
    pairs
        .iter()
        .zip(alone)
        .map(|(pair, alone)| {
            let tested = alone.as_ref().is_ok_and(|found| found.p_value.is_some());
            let (p_value, level) = if tested { corrected.next() } else { None }.unzip();
            Pair {
                first: pair.0.strategy.clone(),
                second: pair.1.strategy.clone(),
                score,
                found: level.map_or(alone, |level| ratio(pair, level)),
                p_value,
            }
        })
        .collect()
}

/// Comparison of two strategies by the ratio of the first strategy's figure to the second strategy's figure.
pub struct Pair {
    /// Name of the better ranked of the two compared strategies.
    pub first: String,
    pub second: String,
    pub(super) score: Score,
    pub(super) found: Result<PairedRatio, Incomparable>,
    /// p value of the comparison of two strategies, corrected for multiple comparisons.
    pub(super) p_value: Option<f64>,
}

impl Pair {
    /// Returns the outcome of the comparison, such as lower, higher or equivalent, from the view of the first strategy's figure. Returns
    /// `None` if the two strategies cannot be compared.
    pub fn verdict(&self) -> Option<PairOutcome> {
        self.found.as_ref().ok().map(|found| found.verdict)
    }

    pub fn is_apart(&self) -> bool {
        matches!(self.verdict(), Some(PairOutcome::Lower | PairOutcome::Higher))
    }

    pub fn words(&self) -> String {
        let Self { first, second, score, .. } = self;
        let figure = score.name();
        let found = match &self.found {
            Ok(found) => found,
            Err(why) => return format!("{first} and {second} cannot be compared in {figure}: {why}"),
        };
        let Some(interval) = found.interval else {
            let runs = if found.pairs == 1 { "block" } else { "blocks" };
            return format!(
                "{first} against {second}: too few repeats to decide; in {} {runs} {first} had {:.2} times the {figure}",
                found.pairs, found.ratio
            );
        };
        let ends = |low: f64, high: f64| {
            let decimals = ratio_decimals(low, high);
            format!("({}: {low:.decimals$}–{high:.decimals$})", level(interval.level))
        };
        let (low, high) = (interval.low, interval.high);
        match found.verdict {
            PairOutcome::Lower => {
                let (low, high) = (1.0 / high, 1.0 / low);
                let times = format!("{:.*}", ratio_decimals(low, high), 1.0 / found.ratio);
                format!("{} {}", score.says_less(first, &times, second), ends(low, high))
            }
            PairOutcome::Higher => {
                let times = format!("{:.*}", ratio_decimals(low, high), found.ratio);
                format!("{} {}", score.says_more(first, &times, second), ends(low, high))
            }
            PairOutcome::Equivalent => {
                let range = ends(low, high);
                format!("{first} and {second} are equivalent in {figure}: the ratio lies within ±2 % {range}")
            }
            PairOutcome::NotDistinguishable | PairOutcome::TooFew => {
                format!("{first} and {second} are not distinguishable in {figure} {}", ends(low, high))
            }
        }
    }

    pub fn record(&self) -> PairRecord {
        let found = self.found.as_ref().ok();
        let interval = found.and_then(|found| found.interval);
        PairRecord {
            first: self.first.clone(),
            second: self.second.clone(),
            figure: self.score.path().to_owned(),
            ratio: found.map(|found| found.ratio),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            level: interval.map(|interval| interval.level.coverage()),
            p: self.p_value,
            verdict: self.verdict().into(),
            words: self.words(),
        }
    }
}

#[cfg(test)]
mod tests {
    use statistics::PairOutcome;

    use super::*;
    use crate::evaluation::testing::standings_of;

    fn standings(attempts: &[(&str, u64)]) -> Vec<RankedStrategy> {
        let attempts: Vec<_> = attempts
            .iter()
            .map(|(strategy, about)| (*strategy, (0..10).map(|run| about + run % 3).collect()))
            .collect();
        standings_of(&attempts)
    }

    #[test]
    fn every_two_are_compared_once_and_the_better_comes_first() {
        let pairs = every_pair(&standings(&[("c", 300), ("a", 100), ("b", 200)]), Score::attempts(), 1);
        let names: Vec<_> = pairs.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).collect();
        assert_eq!(names, [("a", "b"), ("a", "c"), ("b", "c")]);
        assert!(pairs.iter().all(|pair| pair.verdict() == Some(PairOutcome::Lower)));
    }

    #[test]
    fn each_is_corrected_for_all_of_them() {
        let alone = every_pair(&standings(&[("a", 100), ("b", 103)]), Score::attempts(), 1);
        let among = every_pair(&standings(&[("a", 100), ("b", 103), ("c", 300)]), Score::attempts(), 1);
        let p = |pairs: &[Pair]| pairs[0].record().p.unwrap();
        let level = |pairs: &[Pair]| pairs[0].record().level.unwrap();
        assert!(p(&among) >= p(&alone), "{} and {}", p(&among), p(&alone));
        assert!((level(&alone) - 0.95).abs() < 1e-9 && level(&among) >= level(&alone), "{}", level(&among));
    }

    #[test]
    fn oracles_are_neither_the_best_nor_compared_with_it() {
        let standings = standings(&[("fixed-window+oracle", 10), ("b", 200), ("a", 100)]);
        let pairs = best_against_others(&standings, Score::attempts(), 1);
        let names: Vec<_> = pairs.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).collect();
        assert_eq!(names, [("a", "b")]);
    }
}
