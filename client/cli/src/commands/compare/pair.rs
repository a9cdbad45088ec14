//! Two strategies against each other: ratios paired by block, corrected for comparing many, in words.

use results::{PairRecord, Score, Standing, best_that_can_be_had};
use statistics::{Comparison, Incomparable, Level, Margin, Method, PairedRatio, Verdict, holm, holm_levels};

use crate::text::figures::level;

/// More comparisons than the bootstrap's smallest p value can be corrected for.
const MOST_RESAMPLED: usize = 100;

/// No ratio is told with more decimals.
const MOST_DECIMALS: usize = 3;

/// One figure of one strategy over that of another.
pub(crate) struct Pair {
    pub(crate) first: String,
    pub(crate) second: String,
    score: Score,
    found: Result<PairedRatio, Incomparable>,
    /// Corrected.
    p_value: Option<f64>,
}

/// Every two complete strategies in this figure, the better ranked one first; corrected for all of them, because which
/// one is the best was not known before.
pub(crate) fn every_pair(standings: &[Standing], score: Score, seed: u64) -> Vec<Pair> {
    let complete: Vec<&Standing> = standings.iter().filter(|one| one.is_complete()).collect();
    let mut pairs = Vec::new();
    for (rank, first) in complete.iter().enumerate() {
        pairs.extend(complete[rank + 1..].iter().map(|second| (*first, *second)));
    }
    compared(&pairs, score, seed)
}

/// The best that does not know the future against every other that does not, in a figure that they are not ranked by.
pub(crate) fn best_against_others(standings: &[Standing], score: Score, seed: u64) -> Vec<Pair> {
    let Some(best) = best_that_can_be_had(standings) else { return Vec::new() };
    let others = standings.iter().filter(|one| one.is_complete() && !one.foresees);
    let pairs: Vec<_> =
        others.filter(|one| one.strategy != best.strategy).map(|other| (best, other)).collect();
    compared(&pairs, score, seed)
}

fn compared(pairs: &[(&Standing, &Standing)], score: Score, seed: u64) -> Vec<Pair> {
    let resampled = pairs.len() <= MOST_RESAMPLED;
    let method = if resampled { Method::BySize { seed } } else { Method::StudentT };
    let ratio = |(first, second): &(&Standing, &Standing), level| {
        let comparison = Comparison { level, method, margin: Margin::TWO_PERCENT };
        PairedRatio::of(first.values(score), second.values(score), comparison)
    };
    let alone: Vec<_> = pairs.iter().map(|pair| ratio(pair, Level::P95)).collect();
    // What has no p value was not compared, and nothing is corrected for it.
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

impl Pair {
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.found.as_ref().ok().map(|found| found.verdict)
    }

    /// The difference as a sentence without a full stop.
    pub(crate) fn words(&self) -> String {
        let Self { first, second, score, .. } = self;
        let figure = score.name();
        let found = match &self.found {
            Ok(found) => found,
            Err(why) => return format!("{first} and {second} cannot be compared in {figure}: {why}"),
        };
        let Some(interval) = found.interval else {
            let runs = if found.pairs == 1 { "block" } else { "blocks" };
            return format!(
                "{first} against {second}: too few repeats to say; in {} {runs} {first} had {:.2} times the {figure}",
                found.pairs, found.ratio
            );
        };
        let ends = |low: f64, high: f64| {
            let decimals = decimals(low, high);
            format!("({}: {low:.decimals$}–{high:.decimals$})", level(interval.level))
        };
        let (low, high) = (interval.low, interval.high);
        match found.verdict {
            Verdict::Lower => {
                let (low, high) = (1.0 / high, 1.0 / low);
                let times = format!("{:.*}", decimals(low, high), 1.0 / found.ratio);
                format!("{} {}", score.says_less(first, &times, second), ends(low, high))
            }
            Verdict::Higher => {
                let times = format!("{:.*}", decimals(low, high), found.ratio);
                format!("{} {}", score.says_more(first, &times, second), ends(low, high))
            }
            Verdict::Equivalent => {
                let range = ends(low, high);
                format!("{first} and {second} are equivalent in {figure}: the ratio lies within ±2 % {range}")
            }
            Verdict::NotDistinguishable | Verdict::TooFew => {
                format!("{first} and {second} are not distinguishable in {figure} {}", ends(low, high))
            }
        }
    }

    /// As it is written.
    pub(crate) fn record(&self) -> PairRecord {
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

/// So many that a difference does not look like none.
fn decimals(low: f64, high: f64) -> usize {
    let needed = match (low - 1.0).abs().min((high - 1.0).abs()) {
        nearest if nearest >= 0.5 => 1,
        nearest if nearest >= 0.01 => 2,
        _ => 3,
    };
    // An interval does not look like a point either, unless it is next to one.
    let apart = |decimals: &usize| {
        format!("{low:.decimals$}", decimals = *decimals)
            != format!("{high:.decimals$}", decimals = *decimals)
    };
    (needed..=MOST_DECIMALS).find(apart).unwrap_or(MOST_DECIMALS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_difference_does_not_look_like_none() {
        assert_eq!(decimals(1.6, 1.9), 1);
        assert_eq!(decimals(1.02, 1.9), 2);
        assert_eq!(decimals(0.999, 1.5), 3);
        assert_eq!(decimals(8.0, 8.5), 1);
        assert_eq!(decimals(1.91, 1.94), 2);
        assert_eq!(decimals(1.5, 1.5), 3);
    }
}
