//! A search that is over, and its records in the document.

use std::cmp::Reverse;

use crate::candidate::Candidate;
use crate::decision::{choose, excess, worst_excess};
use crate::observed::{Observed, RunTable, finite};
use crate::recommendation::{LeftOut, TriedSetting};

pub(super) struct NoHelp {
    pub candidate: usize,
    /// Largest share of undone ops, over the servers of the search on which the chosen candidate leaves fewer.
    pub most_undone: f64,
    /// Largest ratio, over the servers of the search, of this candidate's cost to the chosen candidate's cost.
    pub worst_cost: f64,
}

pub(super) struct Searched {
    /// Runs with all ops. If the search made shorter runs, only its best candidates and today's setting have runs here.
    pub table: RunTable,
    /// Numbers of the servers on which they ran.
    pub servers: Vec<usize>,
    pub left_out: LeftOut,
    pub candidates: Vec<Candidate>,
    pub eligible: Vec<usize>,
    pub attempts: f64,
}

impl Searched {
    pub(super) fn by_code(&self) -> Option<(usize, Observed)> {
        let Searched { table, servers, candidates, .. } = self;
        let all: Vec<usize> = (0..candidates.len()).filter(|number| candidates[*number].is_by_code).collect();
        let best = choose(table, &all, servers)?;
        Some((best, Observed::mean(&table.runs(best, servers))?))
    }

    /// Returns the best candidate that changes only the library, and the best that changes only the workers, unless one of them was chosen.
    pub(super) fn no_help(&self, chosen: usize) -> Vec<NoHelp> {
        let Searched { table, servers, candidates, eligible, .. } = self;
        let is_only_workers =
            |candidate: &Candidate| candidate.changes.len() == 1 && candidate.workers().is_some();
        let kinds: [&dyn Fn(&Candidate) -> bool; 2] = [&Candidate::is_of_library, &is_only_workers];
        let no_help = |is_of_kind: &dyn Fn(&Candidate) -> bool| {
            if is_of_kind(&candidates[chosen]) {
                return None;
            }
            let mut of_kind = eligible.clone();
            of_kind.retain(|number| is_of_kind(&candidates[*number]));
            // If all candidates of one kind (library only or workers only) were dropped, none of them ran on all servers. The candidate
            // that ran on the most servers is then taken.
            let ran = |number: &usize| (table.runs(*number, servers).len(), Reverse(*number));
            let candidate =
                choose(table, &of_kind, servers).or_else(|| of_kind.iter().copied().max_by_key(ran))?;
            let pairs = || {
                let run = |server: &usize| table.get(candidate, *server).zip(table.get(chosen, *server));
                servers.iter().filter_map(run)
            };
            let more_undone = pairs().filter(|(run, of_chosen)| run.undone > of_chosen.undone);
            let ratios = pairs().map(|(run, of_chosen)| run.cost / of_chosen.cost);
            Some(NoHelp {
                candidate,
                most_undone: more_undone.map(|(run, _)| run.undone).fold(0.0, f64::max),
                worst_cost: ratios.filter(|ratio| ratio.is_finite()).fold(0.0, f64::max),
            })
        };
        kinds.into_iter().filter_map(no_help).collect()
    }

    pub(super) fn tried(&self) -> Vec<TriedSetting> {
        let Searched { table, servers, candidates, eligible, .. } = self;
        let tried = |(number, candidate): (usize, &Candidate)| {
            let excess_points: Vec<Option<f64>> =
                servers.iter().map(|server| excess(table, eligible, number, *server)).collect();
            let of_runs = |figure: fn(&Observed) -> Option<f64>| {
                servers.iter().map(|server| table.get(number, *server).and_then(figure)).collect()
            };
            TriedSetting {
                strategy: candidate.text.clone(),
                in_flight: candidate.in_flight,
                changes: candidate.changes.iter().map(|change| change.setting().text).collect(),
                by_code: candidate.is_by_code,
                eligible: eligible.contains(&number),
                excess_points,
                worst_excess_points: worst_excess(table, eligible, number, servers),
                undone: of_runs(|run| Some(run.undone)),
                cost: of_runs(|run| finite(run.cost)),
            }
        };
        candidates.iter().enumerate().map(tried).collect()
    }
}
