//! What was counted: since the last reset, in all and for each of the latest runs, and since the start.

use std::time::Duration;

use vocabulary::wire::{RunId, ServerCounts};

use crate::request::{Step, Verdict};

/// Runs that are counted apart at once; the one that was quiet for longest makes room.
const RUNS: usize = 64;

/// The counts of one run, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// What clients are told.
    pub counts: ServerCounts,
    /// Server time spent on what came to nothing.
    pub wasted: Duration,
    /// Of the rejected: writes whose condition did not hold.
    pub conflicts: u64,
    /// Of the rejected: those that came while the server was down.
    pub outages: u64,
    /// Of the rejected: the first attempts of ops, which were to be rejected.
    pub forced: u64,
    /// Of the rejected: those that had been accepted, until another policy turned them away.
    pub revoked: u64,
    /// Requests that were lost on their way to the server; not among the received.
    pub lost_requests: u64,
    /// Answers that were lost on their way to the client.
    pub lost_answers: u64,
}

/// All accounts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// What was counted before the last reset, and since then of what had begun before.
    earlier: Account,
    /// Since the last reset.
    total: Account,
    /// The most recently active first.
    runs: Vec<(RunId, Account)>,
}

impl Ledger {
    /// A request reached admission; busy and accepted count it, if it holds a slot. The verdict may be known already.
    pub(crate) fn on_admission(
        &mut self,
        run: Of,
        step: Step,
        verdict: Option<Verdict>,
        (busy, in_service): (u32, u32),
    ) {
        self.update(run, |account| {
            let counts = &mut account.counts;
            match step {
                Step::Read => counts.reads += 1,
                Step::Work | Step::Write { .. } => counts.received += 1,
            }
            counts.max_busy_seen = counts.max_busy_seen.max(u64::from(busy));
            counts.max_accepted_seen = counts.max_accepted_seen.max(u64::from(in_service));
            if let Some(verdict) = verdict {
                count(account, step, verdict);
            }
        });
    }

    /// It was decided about later.
    pub(crate) fn on_verdict(&mut self, run: Of, step: Step, verdict: Verdict) {
        self.update(run, |account| count(account, step, verdict));
    }

    /// What was decided is revoked: an accepted request is rejected after all.
    pub(crate) fn on_revocation(&mut self, run: Of, step: Step) {
        self.update(run, |Account { counts, revoked, .. }| {
            if step == Step::Read {
                counts.reads_rejected += 1;
            } else {
                counts.accepted -= 1;
                counts.rejected += 1;
                *revoked += 1;
            }
        });
    }

    /// The service broke down; counted for whoever heard of it first.
    pub(crate) fn on_crashes(&mut self, run: Of, crashes: u64) {
        self.update(run, |account| account.counts.crashes += crashes);
    }

    /// Server time came to nothing.
    pub(crate) fn on_waste(&mut self, run: Of, time: Duration) {
        self.update(run, |account| account.wasted += time);
    }

    /// Something that has a count of its own.
    pub(crate) fn note(&mut self, run: Of, note: impl Fn(&mut Account)) {
        self.update(run, note);
    }

    /// Counts anew.
    pub(crate) fn reset(&mut self) {
        *self = Self { earlier: self.lifetime(), ..Self::default() };
    }

    /// Everything since the start, whatever was reset.
    pub(crate) fn lifetime(&self) -> Account {
        let mut all = self.earlier;
        all.add(&self.total);
        all
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

    fn update(&mut self, run: Of, change: impl Fn(&mut Account)) {
        let Of::ThisEpoch(run) = run else { return change(&mut self.earlier) };
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

/// What a count is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// A run, or a request that belongs to none.
    ThisEpoch(Option<RunId>),
    /// A request that came before the last reset.
    Earlier,
}

impl Account {
    fn add(&mut self, other: &Self) {
        // All of them are named, so that none is forgotten.
        let Self { counts, wasted, conflicts, outages, forced, revoked, lost_requests, lost_answers } = other;
        let ServerCounts {
            received,
            reads,
            reads_rejected,
            accepted,
            rejected,
            max_busy_seen,
            max_accepted_seen,
            crashes,
        } = counts;
        let sum = &mut self.counts;
        sum.received += received;
        sum.reads += reads;
        sum.reads_rejected += reads_rejected;
        sum.accepted += accepted;
        sum.rejected += rejected;
        sum.max_busy_seen = sum.max_busy_seen.max(*max_busy_seen);
        sum.max_accepted_seen = sum.max_accepted_seen.max(*max_accepted_seen);
        sum.crashes += crashes;
        self.wasted += *wasted;
        self.conflicts += conflicts;
        self.outages += outages;
        self.forced += forced;
        self.revoked += revoked;
        self.lost_requests += lost_requests;
        self.lost_answers += lost_answers;
    }
}

fn count(account: &mut Account, step: Step, verdict: Verdict) {
    account.conflicts += u64::from(verdict == Verdict::Conflict);
    let counts = &mut account.counts;
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
            ledger.on_admission(Of::ThisEpoch(Some(run)), Step::Work, Some(Verdict::Accepted), (1, 1));
            // Run 1 stays active.
            ledger.on_admission(Of::ThisEpoch(Some(1)), Step::Work, None, (2, 1));
            ledger.on_verdict(Of::ThisEpoch(Some(1)), Step::Work, Verdict::Rejected);
        }
        assert_eq!(ledger.runs.len(), RUNS);
        assert_eq!(ledger.account(Some(0)), Account::default());
        assert_eq!(ledger.account(Some(1)).counts.rejected, RUNS as u64 + 1);
        assert_eq!(ledger.account(None).counts.received, 2 * (RUNS as u64 + 1));
    }

    #[test]
    fn a_reset_counts_anew_and_forgets_nothing_of_the_lifetime() {
        let mut ledger = Ledger::default();
        let now = Of::ThisEpoch(Some(1));
        ledger.on_admission(now, Step::Work, Some(Verdict::Accepted), (1, 1));
        ledger.on_admission(now, Step::Work, None, (1, 1));
        ledger.reset();
        assert_eq!(ledger.account(None), Account::default());
        ledger.on_verdict(Of::Earlier, Step::Work, Verdict::Rejected);
        ledger.on_admission(now, Step::Write { if_match: 3 }, Some(Verdict::Conflict), (1, 1));
        ledger.on_waste(Of::Earlier, Duration::from_secs(1));
        assert_eq!((ledger.account(None).counts.received, ledger.account(Some(1)).counts.rejected), (1, 1));
        let all = ledger.lifetime();
        let ServerCounts { received, accepted, rejected, .. } = all.counts;
        assert_eq!((received, accepted, rejected, all.conflicts), (3, 1, 2, 1));
        assert_eq!(all.wasted, Duration::from_secs(1));
    }
}
