//! A search that is over, and its records in the document.

use crate::candidate::Candidate;
use crate::decision::{choose, excess};
use crate::observed::{Observed, RunTable};
use crate::recommendation::TriedSetting;
use crate::search::Shortened;
use crate::snippets;

pub(super) struct NoHelp {
    pub(super) candidate: usize,
    /// Largest share of undone ops, over the servers of the search on which the chosen candidate leaves fewer.
    pub(super) most_undone: f64,
    /// Largest ratio, over the servers of the search, of this candidate's cost to the chosen candidate's cost.
    pub(super) worst_cost: f64,
}

pub(super) struct Searched {
    /// Runs with all ops. If the search made shorter runs, only its best candidates and today's setting have runs here.
    pub(super) table: RunTable,
    /// Numbers of the servers on which they ran.
    pub(super) servers: Vec<usize>,
    pub(super) shortened: Shortened,
    pub(super) candidates: Vec<Candidate>,
    pub(super) eligible: Vec<usize>,
    pub(super) attempts: f64,
}

impl Searched {
    pub(super) fn by_code(&self, changes: &[usize]) -> Option<(usize, Observed)> {
        let Searched { table, servers, candidates, .. } = self;
        let all: Vec<usize> = (0..candidates.len()).filter(|number| candidates[*number].is_by_code).collect();
        let best = choose(table, &all, changes, servers)?;
        Some((best, Observed::mean(&table.runs(best, servers))?))
    }

    /// Returns the best candidate that changes only the library, and the best that changes only the workers, unless one of them was chosen.
    pub(super) fn no_help(&self, changes: &[usize], chosen: usize) -> Vec<NoHelp> {
        let Searched { table, servers, candidates, eligible, .. } = self;
        let is_only_workers =
            |candidate: &Candidate| candidate.changes.len() == 1 && candidate.workers().is_some();
        let kinds: [&dyn Fn(&Candidate) -> bool; 2] = [&Candidate::is_of_library, &is_only_workers];
        let mut found = Vec::new();
        for kind in kinds {
            let of_kind: Vec<usize> = eligible
                .iter()
                .copied()
                .filter(|number| *number != chosen && kind(&candidates[*number]))
                .collect();
            let is_chosen_kind = kind(&candidates[chosen]);
            // If all candidates of one kind (library only or workers only) were dropped, none of them ran on all servers. The candidate
            // that ran on the most servers is then taken.
            let best = choose(table, &of_kind, changes, servers).or_else(|| {
                of_kind
                    .iter()
                    .copied()
                    .max_by_key(|number| (table.runs(*number, servers).len(), std::cmp::Reverse(*number)))
            });
            let Some(best) = best.filter(|_| !is_chosen_kind) else { continue };
            let more_undone = |server: &usize| {
                let (undone, of_chosen) =
                    (table.get(best, *server)?.undone, table.get(chosen, *server)?.undone);
                Some(undone).filter(|undone| *undone > of_chosen)
            };
            let most_undone = servers.iter().filter_map(more_undone).fold(0.0, f64::max);
            let ratio = |server: &usize| {
                Some(table.get(best, *server)?.cost / table.get(chosen, *server)?.cost)
                    .filter(|ratio| ratio.is_finite())
            };
            let worst_cost = servers.iter().filter_map(ratio).fold(0.0, f64::max);
            found.push(NoHelp { candidate: best, most_undone, worst_cost });
        }
        found
    }

    pub(super) fn tried(&self) -> Vec<TriedSetting> {
        let Searched { table, servers, candidates, eligible, .. } = self;
        let tried = |(number, candidate): (usize, &Candidate)| {
            let excess_points: Vec<Option<f64>> =
                servers.iter().map(|server| excess(table, eligible, number, *server)).collect();
            let worst =
                excess_points.iter().copied().try_fold(0.0_f64, |worst, excess| Some(worst.max(excess?)));
            let of_runs = |figure: fn(&Observed) -> Option<f64>| {
                servers.iter().map(|server| table.get(number, *server).and_then(figure)).collect()
            };
            TriedSetting {
                strategy: candidate.text.clone(),
                in_flight: candidate.in_flight,
                changes: snippets::changes(candidate).into_iter().map(|setting| setting.text).collect(),
                by_code: candidate.is_by_code,
                eligible: eligible.contains(&number),
                excess_points,
                worst_excess_points: worst,
                undone: of_runs(|run| Some(run.undone)),
                cost: of_runs(|run| finite(run.cost)),
            }
        };
        candidates.iter().enumerate().map(tried).collect()
    }
}

pub(super) fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}
