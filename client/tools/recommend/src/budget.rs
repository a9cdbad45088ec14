//! Budget of attempts, which limits how long the search for a recommended setting takes.

use crate::candidate::MAX_CANDIDATES;
use crate::observed::Observed;

/// Maximum mean number of attempts per op. A run that exceeds it is ended with ops undone, because strategies that ignore rejections would
/// send millions of attempts.
pub(crate) const MAX_ATTEMPTS_PER_OP: u32 = 100;

/// Maximum number of attempts that all runs of a search may send. It keeps the search within about 15 s on two cores.
pub(crate) const MAX_SEARCH_ATTEMPTS: u64 = 6_000_000;

/// Attempts that a run is expected to send per op when the length of runs is chosen.
const ATTEMPTS_PER_OP: f64 = 1.25;

/// Returns the share of the ops that a run of the search has, so that all candidates can run on all servers: 1 for most workloads.
pub(crate) fn share_of_ops(ops: u64, servers: usize) -> f64 {
    let runs = (servers.max(1) * MAX_CANDIDATES) as f64;
    (MAX_SEARCH_ATTEMPTS as f64 / (ATTEMPTS_PER_OP * runs * ops.max(1) as f64)).min(1.0)
}

#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// Attempts that the runs have sent.
    pub used: f64,
    most: f64,
    /// Expected attempts of one run: the mean of the latest server's runs, and before the first run the number of ops.
    of_a_run: f64,
}

impl Budget {
    pub(super) fn new(most: u64, ops: u64) -> Self {
        Self { used: 0.0, most: most as f64, of_a_run: ops as f64 }
    }

    pub(super) fn spend(&mut self, runs: &[Observed]) {
        let sum: f64 = runs.iter().map(|run| run.attempts).sum();
        self.used += sum;
        if !runs.is_empty() {
            self.of_a_run = sum / runs.len() as f64;
        }
    }

    pub(super) fn runs_left(&self, share: f64) -> usize {
        let left = (share * self.most - self.used).max(0.0) / self.of_a_run.max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the budget")]
        let runs = left as usize;
        runs
    }
}
