//! Ranking of the strategies in a report, and the sentences that state its result.

use std::collections::{BTreeMap, BTreeSet};

use results::{Answer, Mode, RankedStrategy, RunFigures, RunResult, Score, Sentence, Unthrottled};

use super::strategy::Strategy;

/// Ranking of strategies whose runs differ only in the strategy and the seed.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    pub(super) answer: Answer,
    /// Ranked strategies followed by unranked ones, named by their labels.
    pub(super) standings: Vec<RankedStrategy>,
    mode: Mode,
}

impl Ranking {
    /// Ranks at least two strategies, over the seeds that all strategies have. Returns `None` if the strategies cannot
    /// be compared.
    pub(super) fn new(strategies: &[Strategy], by: Score) -> Option<Self> {
        let [first, _, ..] = strategies else { return None };
        let conditions = first.conditions()?;
        if strategies.iter().any(|strategy| strategy.conditions().as_ref() != Some(&conditions)) {
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

    pub(super) fn further_sentences(&self) -> Vec<Sentence> {
        self.answer.sentences(self.mode).split_off(1)
    }

    pub(super) fn unthrottled(&self) -> Option<Unthrottled> {
        Unthrottled::new(&self.standings, self.answer.by)
    }

    pub(super) fn sort(&self, strategies: &mut [Strategy]) {
        let rows = &self.answer.rows;
        strategies.sort_by_key(|strategy| rows.iter().position(|row| row.strategy == strategy.label));
    }

    pub(super) fn standing(&self, label: &str) -> Option<&RankedStrategy> {
        self.standings.iter().find(|standing| standing.strategy == label)
    }
}

fn by_seed(strategy: &Strategy) -> BTreeMap<u64, &RunResult> {
    strategy.runs.iter().filter_map(|run| Some((run.seed, run.result.as_deref()?))).collect()
}
