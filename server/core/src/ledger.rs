//! What was counted, in all and for each of the latest runs.

use std::time::Duration;

use vocabulary::wire::{RunId, ServerCounts};

use crate::request::{Step, Verdict};

/// Runs that are counted apart at once; the one that was quiet for longest makes room.
const RUNS: usize = 64;

/// The counts of one run, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) counts: ServerCounts,
    /// Server time spent on what came to nothing.
    pub(crate) wasted: Duration,
}

/// All accounts of one epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    total: Account,
    /// The most recently active first.
    runs: Vec<(RunId, Account)>,
}

impl Ledger {
    /// A request reached admission; busy and accepted count it, if it holds a slot. The verdict may be known already.
    pub(crate) fn on_admission(
        &mut self,
        run: Option<RunId>,
        step: Step,
        verdict: Option<Verdict>,
        (busy, in_service): (u32, u32),
    ) {
        self.update(run, |Account { counts, .. }| {
            match step {
                Step::Read => counts.reads += 1,
                Step::Work | Step::Write { .. } => counts.received += 1,
            }
            counts.max_busy_seen = counts.max_busy_seen.max(u64::from(busy));
            counts.max_accepted_seen = counts.max_accepted_seen.max(u64::from(in_service));
            if let Some(verdict) = verdict {
                count(counts, step, verdict);
            }
        });
    }

    /// It was decided about later.
    pub(crate) fn on_verdict(&mut self, run: Option<RunId>, step: Step, verdict: Verdict) {
        self.update(run, |account| count(&mut account.counts, step, verdict));
    }

    /// What was decided is revoked: an accepted request is rejected after all.
    pub(crate) fn on_revocation(&mut self, run: Option<RunId>, step: Step) {
        self.update(run, |Account { counts, .. }| {
            if step == Step::Read {
                counts.reads_rejected += 1;
            } else {
                counts.accepted -= 1;
                counts.rejected += 1;
            }
        });
    }

    /// The service broke down; counted for whoever heard of it first.
    pub(crate) fn on_crashes(&mut self, run: Option<RunId>, crashes: u64) {
        self.update(run, |account| account.counts.crashes += crashes);
    }

    /// Server time came to nothing.
    pub(crate) fn on_waste(&mut self, run: Option<RunId>, time: Duration) {
        self.update(run, |account| account.wasted += time);
    }

    /// The account of one run (empty when nothing was counted for it), or of all.
    pub(crate) fn account(&self, run: Option<RunId>) -> Account {
        match run {
            None => self.total,
            Some(run) => {
                self.runs.iter().find(|(id, _)| *id == run).map(|(_, account)| *account).unwrap_or_default()
            }
        }
    }

    fn update(&mut self, run: Option<RunId>, change: impl Fn(&mut Account)) {
        change(&mut self.total);
        let Some(run) = run else { return };
        let position = self.runs.iter().position(|(id, _)| *id == run).unwrap_or_else(|| {
            self.runs.truncate(RUNS - 1);
            self.runs.push((run, Account::default()));
            self.runs.len() - 1
        });
        change(&mut self.runs[position].1);
        // Usually the first already.
        self.runs[..=position].rotate_right(1);
    }
}

fn count(counts: &mut ServerCounts, step: Step, verdict: Verdict) {
    match (step, verdict) {
        (Step::Read, Verdict::Accepted) => {}
        (Step::Read, _) => counts.reads_rejected += 1,
        (_, Verdict::Accepted) => counts.accepted += 1,
        (_, Verdict::Rejected | Verdict::Conflict) => counts.rejected += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_apart_and_the_quietest_makes_room() {
        let mut ledger = Ledger::default();
        for run in 0..=RUNS as u64 {
            ledger.on_admission(Some(run), Step::Work, Some(Verdict::Accepted), (1, 1));
            // Run 1 stays active.
            ledger.on_admission(Some(1), Step::Work, None, (2, 1));
            ledger.on_verdict(Some(1), Step::Work, Verdict::Rejected);
        }
        assert_eq!(ledger.runs.len(), RUNS);
        assert_eq!(ledger.account(Some(0)), Account::default());
        assert_eq!(ledger.account(Some(1)).counts.rejected, RUNS as u64 + 1);
        assert_eq!(ledger.account(None).counts.received, 2 * (RUNS as u64 + 1));
    }
}
