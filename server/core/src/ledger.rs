//! Counts of requests: since the server's start, since the last reset of the counts, and for each of the latest runs.

use std::collections::BTreeMap;
use std::time::Duration;

use vocabulary::Instant;
use wire::RunId;

use crate::by_policy::{Fate, Names};
use crate::{Account, ServerDecision, Step};

/// Maximum number of runs whose requests are counted separately. To make room for a new run, the run that has been inactive for the longest
/// time is evicted.
const RUNS: usize = 1024;

/// Time for which a run counts as live after its last activity. Live runs are never evicted, however many new runs arrive.
const LIVE: Duration = Duration::from_mins(1);

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Counts of the requests that arrived before the last reset of the counts. Decisions that are made on these requests after the reset
    /// are counted here, too.
    earlier: Account,
    /// Counts of the requests that arrived since the last reset of the counts.
    total: Account,
    runs: BTreeMap<RunId, Kept>,
    pub(crate) policies: Names,
    now: Instant,
    /// Instant of the latest activity that is missing in the account of its run. Activity is missing if its run was evicted, or if all
    /// accounts were in use by other runs. `None` if nothing is missing.
    forgotten_until: Option<Instant>,
    /// Instant until which every run with an account is live, so that none of them can be evicted.
    full_until: Instant,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    account: Account,
    last: Instant,
    /// Value of `Ledger::forgotten_until` at the time when the run's account was created. The run's activity up to that instant may be
    /// missing in the account.
    forgotten_before: Option<Instant>,
}

impl Ledger {
    pub(crate) fn on_time(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Returns the latest instant at which activity of this run may have been missed by its account. `None` if the account is complete.
    pub(crate) fn forgotten_until(&self, run: RunId) -> Option<Instant> {
        self.runs.get(&run).map_or(self.forgotten_until, |kept| kept.forgotten_before)
    }

    /// Records a request that reached admission. `busy` is the number of busy slots, and `in_service` the number of requests in service.
    /// Both numbers include this request if it holds a slot. `verdict` is `None` if the server decides on the request later.
    pub(crate) fn on_admission(
        &mut self,
        run: Of,
        step: Step,
        verdict: Option<ServerDecision>,
        (busy, in_service): (u32, u32),
    ) {
        self.note(run, |account| {
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

    pub(crate) fn on_verdict(&mut self, run: Of, step: Step, verdict: ServerDecision) {
        self.note(run, |account| count(account, step, verdict));
    }

    pub(crate) fn on_revocation(&mut self, run: Of, step: Step) {
        self.note(run, |Account { counts, revoked, .. }| {
            // The request was counted as accepted before, and this count is undone here. The account of the run may have been evicted and
            // created anew since then. Such a new account has not counted the request, so nothing is subtracted from it.
            if step == Step::Read {
                counts.reads_rejected += u64::from(counts.reads_rejected < counts.reads);
            } else if let Some(accepted) = counts.accepted.checked_sub(1) {
                counts.accepted = accepted;
                counts.rejected += 1;
                *revoked += 1;
            }
        });
    }

    pub(crate) fn on_stack(&mut self, run: Of, fate: Fate) {
        // The policy names are moved out of `self`, because the closure needs them while `note` borrows `self`.
        let policies = std::mem::take(&mut self.policies);
        self.note(run, |account| policies.count(&mut account.counts.by_policy, fate));
        self.policies = policies;
    }

    pub(crate) fn reset(&mut self) {
        let mut earlier = std::mem::take(&mut self.earlier);
        earlier.add(&self.total);
        *self =
            Self { earlier, now: self.now, policies: std::mem::take(&mut self.policies), ..Self::default() };
    }

    pub(crate) fn lifetime(&self) -> Account {
        let mut all = self.earlier.clone();
        all.add(&self.total);
        self.reported(all)
    }

    pub(crate) fn account(&self, run: Option<RunId>) -> Account {
        self.reported(match run {
            None => self.total.clone(),
            Some(run) => self.runs.get(&run).map(|kept| kept.account.clone()).unwrap_or_default(),
        })
    }

    fn reported(&self, mut account: Account) -> Account {
        account.counts.by_policy = self.policies.reported(&account.counts.by_policy);
        account
    }

    /// Changes all accounts to which the activity of a request belongs.
    pub(crate) fn note(&mut self, run: Of, change: impl Fn(&mut Account)) {
        let Of::ThisEpoch(run) = run else { return change(&mut self.earlier) };
        change(&mut self.total);
        let Some(run) = run else { return };
        if !self.runs.contains_key(&run) && self.runs.len() >= RUNS && !self.make_room() {
            self.forgotten_until = Some(self.now);
            return;
        }
        let (now, forgotten_before) = (self.now, self.forgotten_until);
        let kept = self.runs.entry(run).or_insert_with(|| Kept { forgotten_before, ..Kept::default() });
        kept.last = now;
        change(&mut kept.account);
    }

    /// Evicts the run without activity for the longest time. Returns false if all runs are live.
    fn make_room(&mut self) -> bool {
        if self.now < self.full_until {
            return false;
        }
        let Some((&run, last)) =
            self.runs.iter().map(|(run, kept)| (run, kept.last)).min_by_key(|(_, last)| *last)
        else {
            return true;
        };
        if self.now < last + LIVE {
            self.full_until = last + LIVE;
            return false;
        }
        self.runs.remove(&run);
        self.forgotten_until = self.forgotten_until.max(Some(last));
        true
    }
}

/// Counts to which a request belongs: the current counts, or the earlier counts if it arrived before the last reset.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    ThisEpoch(Option<RunId>),
    Earlier,
}

fn count(account: &mut Account, step: Step, verdict: ServerDecision) {
    account.conflicts += u64::from(verdict == ServerDecision::Conflict);
    let counts = &mut account.counts;
    match (step, verdict) {
        (_, ServerDecision::Deferred) | (Step::Read, ServerDecision::Accepted) => {}
        (Step::Read, _) => counts.reads_rejected += 1,
        (_, ServerDecision::Accepted) => counts.accepted += 1,
        (_, ServerDecision::Rejected | ServerDecision::Conflict) => counts.rejected += 1,
        (_, ServerDecision::Failed) => counts.failed += 1,
    }
}

#[cfg(test)]
mod tests {
    use wire::ServerCounts;

    use super::*;

    fn served(ledger: &mut Ledger, run: RunId, at_s: u64) {
        ledger.on_time(Instant::from_millis(at_s * 1000));
        ledger.on_admission(Of::ThisEpoch(Some(run)), Step::Work, Some(ServerDecision::Accepted), (1, 1));
    }

    #[test]
    fn strangers_push_no_run_out_that_goes_on() {
        let mut ledger = Ledger::default();
        served(&mut ledger, 1, 0);
        for stranger in 0..5 * RUNS as u64 {
            served(&mut ledger, 100 + stranger, 1 + stranger / 1000);
        }
        served(&mut ledger, 1, 10);
        assert_eq!((ledger.runs.len(), ledger.account(Some(1)).counts.received), (RUNS, 2));
        assert_eq!(ledger.forgotten_until(1), None, "nothing of it is missing");
        assert_eq!(ledger.account(None).counts.received, 5 * RUNS as u64 + 2);
        // A new run gets no account, and `forgotten_until` reports that.
        served(&mut ledger, 2, 11);
        assert_eq!(ledger.account(Some(2)), Account::default());
        assert_eq!(ledger.forgotten_until(2), Some(Instant::from_millis(11_000)));
    }

    /// A run that returns after its eviction is known to be incomplete.
    #[test]
    fn the_longest_idle_run_is_evicted_first() {
        let mut ledger = Ledger::default();
        for run in 0..RUNS as u64 {
            served(&mut ledger, run, run / 100);
        }
        served(&mut ledger, 0, 20);
        served(&mut ledger, 5000, 100);
        assert_eq!((ledger.account(Some(1)), ledger.runs.len()), (Account::default(), RUNS));
        assert_eq!(ledger.forgotten_until(0), None);
        served(&mut ledger, 1, 101);
        assert_eq!(ledger.account(Some(1)).counts.received, 1);
        assert!(ledger.forgotten_until(1).is_some());
        assert!(ledger.forgotten_until(5000).is_some_and(|until| until < Instant::from_millis(2_000)));
    }

    #[test]
    fn what_is_revoked_is_taken_only_from_accounts_that_have_it() {
        let mut ledger = Ledger::default();
        served(&mut ledger, 1, 0);
        ledger.runs.remove(&1);
        let run = Of::ThisEpoch(Some(1));
        ledger.on_revocation(run, Step::Work);
        ledger.on_revocation(run, Step::Read);
        assert_eq!(ledger.account(Some(1)), Account::default());
        let all = ledger.account(None);
        assert_eq!((all.counts.accepted, all.counts.rejected, all.revoked), (0, 1, 1));
    }

    #[test]
    fn a_reset_counts_anew_and_forgets_nothing_of_the_lifetime() {
        let mut ledger = Ledger::default();
        let now = Of::ThisEpoch(Some(1));
        ledger.on_admission(now, Step::Work, Some(ServerDecision::Accepted), (1, 1));
        ledger.on_admission(now, Step::Work, None, (1, 1));
        ledger.reset();
        assert_eq!(ledger.account(None), Account::default());
        ledger.on_verdict(Of::Earlier, Step::Work, ServerDecision::Rejected);
        ledger.on_admission(now, Step::Write { if_match: 3 }, Some(ServerDecision::Conflict), (1, 1));
        ledger.note(Of::Earlier, |account| account.wasted += Duration::from_secs(1));
        assert_eq!((ledger.account(None).counts.received, ledger.account(Some(1)).counts.rejected), (1, 1));
        let all = ledger.lifetime();
        let ServerCounts { received, accepted, rejected, .. } = all.counts;
        assert_eq!((received, accepted, rejected, all.conflicts), (3, 1, 2, 1));
        assert_eq!(all.wasted, Duration::from_secs(1));
    }
}
