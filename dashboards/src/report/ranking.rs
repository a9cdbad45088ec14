//! Ranking of the strategies in a report, and the sentences that state its result.

use std::collections::{BTreeMap, BTreeSet};

use results::{Answer, Mode, RankedStrategy, RunFigures, RunResult, Score, Unthrottled};

use super::Strategy;

/// Ranking of strategies whose runs differ only in the strategy and the seed.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    pub(super) answer: Answer,
    /// Ranked strategies followed by unranked ones, named by their labels.
    pub(super) standings: Vec<RankedStrategy>,
    pub(super) mode: Mode,
}

impl Ranking {
    /// Ranks at least two strategies, over the seeds that all strategies have. Returns `None` if the strategies cannot
    /// be compared.
    pub(super) fn new(strategies: &[Strategy], by: Score) -> Option<Self> {
        let [first, _, ..] = strategies else { return None };
        let conditions = first.conditions();
        if strategies.iter().any(|strategy| strategy.conditions() != conditions) {
            return None;
        }
        let runs: Vec<BTreeMap<u64, &RunResult>> = strategies.iter().map(by_seed).collect();
        let mut seeds: BTreeSet<u64> = runs[0].keys().copied().collect();
        seeds.retain(|seed| runs.iter().all(|runs| runs.contains_key(seed)));
        let first_seed = *seeds.first()?;
        let figures = |runs: &BTreeMap<u64, &RunResult>| {
            RunFigures::new(RunFigures::ranked(by), seeds.iter().map(|seed| runs[seed]))
        };
        let labels = strategies.iter().map(|strategy| strategy.label.clone());
        let figures: Vec<(String, RunFigures)> = labels.zip(runs.iter().map(figures)).collect();
        let standings = results::standings(&figures, by, first_seed);
        let mode = runs[0][&first_seed].mode;
        Some(Self { answer: Answer::new(&standings, by), standings, mode })
    }

    pub(super) fn unthrottled(&self) -> Option<Unthrottled> {
        Unthrottled::new(&self.standings, self.answer.by)
    }
}

fn by_seed(strategy: &Strategy) -> BTreeMap<u64, &RunResult> {
    strategy.runs.iter().map(|run| (run.result.seed, &run.result)).collect()
}
