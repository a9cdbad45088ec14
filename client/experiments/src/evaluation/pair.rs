//! Comparison of two strategies, as a sentence and as a record. The ratio of their figures is computed from pairs of runs with the same
//! seed.

use results::numbers::{level, ratio_decimals};
use results::{PairRecord, Score};
use statistics::{Incomparable, PairOutcome, PairedRatio};

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
