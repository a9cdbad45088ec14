//! Figures of one run in the search for a recommendation, and the table of all its runs.

use results::RunResult;

pub(crate) use crate::recommendation::RecommendationGoal as Goal;

/// Figures of one run, or their means over several seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Observed {
    /// Share of ops that were not done (or not in time), 0 to 1.
    pub undone: f64,
    /// Makespan in seconds, or attempts per success; infinite if no op was done.
    pub cost: f64,
    /// Seconds until the last op ended; infinite if no op was done.
    pub makespan_s: f64,
    /// True if the run, or one of them, ended before all its ops.
    pub is_cut: bool,
    pub attempts: f64,
    pub rejected: f64,
    pub ops: f64,
    pub succeeded: f64,
}

impl Observed {
    #[cfg(test)]
    pub(super) fn with_cost(undone: f64, cost: f64) -> Self {
        let (makespan_s, is_cut) = (cost, false);
        Self { undone, cost, makespan_s, is_cut, attempts: 1.0, rejected: 0.0, ops: 1.0, succeeded: 1.0 }
    }

    pub(crate) fn new(run: &RunResult, goal: Goal) -> Self {
        let makespan_s = run.makespan_s.unwrap_or(f64::INFINITY);
        let cost = match goal {
            Goal::Finish => makespan_s,
            Goal::InTime => run.attempts_per_success.unwrap_or(f64::INFINITY),
        };
        Self {
            undone: run.done_share.map_or(1.0, |done| (1.0 - done).max(0.0)),
            cost,
            makespan_s,
            is_cut: run.stalled_at_s.is_some(),
            attempts: run.attempts.total as f64,
            rejected: run.attempts.rejected as f64,
            ops: run.ops.share_base() as f64,
            succeeded: run.ops.succeeded as f64,
        }
    }

    pub(crate) fn mean(runs: &[Self]) -> Option<Self> {
        let mean = |figure: fn(&Self) -> f64| runs.iter().map(figure).sum::<f64>() / runs.len() as f64;
        (!runs.is_empty()).then(|| Self {
            undone: mean(|run| run.undone),
            cost: mean(|run| run.cost),
            makespan_s: mean(|run| run.makespan_s),
            is_cut: runs.iter().any(|run| run.is_cut),
            attempts: mean(|run| run.attempts),
            rejected: mean(|run| run.rejected),
            ops: mean(|run| run.ops),
            succeeded: mean(|run| run.succeeded),
        })
    }

    /// Returns the geometric mean of the ratios of costs, the second run's to the first's, over the pairs in which both are finite and above
    /// 0. `None` without such a pair.
    pub(super) fn cost_ratio<'a>(pairs: impl Iterator<Item = (&'a Self, &'a Self)>) -> Option<f64> {
        let is_known = |cost: f64| cost.is_finite() && cost > 0.0;
        let logs: Vec<f64> = pairs
            .filter(|(one, other)| is_known(one.cost) && is_known(other.cost))
            .map(|(one, other)| libm::log(other.cost / one.cost))
            .collect();
        (!logs.is_empty()).then(|| libm::exp(logs.iter().sum::<f64>() / logs.len() as f64))
    }

    /// Returns the share of attempts that the server rejected, 0 to 1.
    pub(crate) fn rejected_share(&self) -> f64 {
        if self.attempts > 0.0 { self.rejected / self.attempts } else { 0.0 }
    }

    pub(crate) fn attempts_per_success(&self) -> Option<f64> {
        (self.succeeded > 0.0).then(|| self.attempts / self.succeeded)
    }

    pub(crate) fn rejected_per_100_ops(&self) -> f64 {
        if self.ops > 0.0 { 100.0 * self.rejected / self.ops } else { 0.0 }
    }
}

pub(crate) fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

pub(crate) fn whole(count: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of ops or attempts"
    )]
    let count = count as u64;
    count
}

/// Runs of a search: one row per candidate, one column per server. Runs that were not made are missing.
#[derive(Clone, Debug)]
pub(crate) struct RunTable {
    pub goal: Goal,
    /// Number of each candidate's changes.
    pub changes: Vec<usize>,
    rows: Vec<Vec<Option<Observed>>>,
}

impl RunTable {
    pub(super) fn new(goal: Goal) -> Self {
        Self { goal, changes: Vec::new(), rows: Vec::new() }
    }

    pub(super) fn add_row(&mut self, changes: usize, servers: usize) -> usize {
        self.changes.push(changes);
        self.rows.push(vec![None; servers]);
        self.rows.len() - 1
    }

    pub(super) fn set(&mut self, candidate: usize, server: usize, observed: Observed) {
        self.rows[candidate][server] = Some(observed);
    }

    pub(crate) fn get(&self, candidate: usize, server: usize) -> Option<&Observed> {
        self.rows.get(candidate)?.get(server)?.as_ref()
    }

    /// Replaces all runs with those of another table. Its row `i` becomes row `rows[i]`, and the other rows have no runs.
    pub(crate) fn replace(&mut self, rows: &[usize], runs: Self) {
        self.rows.fill(Vec::new());
        for (row, runs) in rows.iter().zip(runs.rows) {
            self.rows[*row] = runs;
        }
    }

    pub(crate) fn candidates(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn has_all(&self, candidate: usize, servers: &[usize]) -> bool {
        servers.iter().all(|server| self.get(candidate, *server).is_some())
    }

    pub(crate) fn runs(&self, candidate: usize, servers: &[usize]) -> Vec<Observed> {
        servers.iter().filter_map(|server| self.get(candidate, *server).copied()).collect()
    }

    /// Returns a copy of the table of runs with its rows in another order. Row `i` of the result is row `order[i]`.
    #[cfg(test)]
    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        let changes = order.iter().map(|row| self.changes[*row]).collect();
        Self { goal: self.goal, changes, rows: order.iter().map(|row| self.rows[*row].clone()).collect() }
    }
}
