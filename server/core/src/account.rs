//! What is counted of requests: of a run, of a shard of its clients, or of all.

use std::time::Duration;

use vocabulary::wire::ServerCounts;

/// The counts of one run, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// What clients are told.
    pub counts: ServerCounts,
    /// Server time spent on what was done.
    pub served: Duration,
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
    /// Of the accepted: those whose answers a fault spoiled.
    pub spoiled: u64,
    /// Answers that came later on purpose.
    pub slowed: u64,
    /// Requests that came before the time that was advised to their client.
    pub early: u64,
}

impl Account {
    /// Adds what was counted elsewhere, or before.
    pub(crate) fn add(&mut self, other: &Self) {
        // All of them are named, so that none is forgotten.
        let Self {
            counts,
            served,
            wasted,
            conflicts,
            outages,
            forced,
            revoked,
            lost_requests,
            lost_answers,
            spoiled,
            slowed,
            early,
        } = other;
        let ServerCounts {
            received,
            reads,
            reads_rejected,
            accepted,
            rejected,
            failed,
            max_busy_seen,
            max_accepted_seen,
            crashes,
            by_policy,
        } = counts;
        let sum = &mut self.counts;
        sum.received += received;
        sum.reads += reads;
        sum.reads_rejected += reads_rejected;
        sum.accepted += accepted;
        sum.rejected += rejected;
        sum.failed += failed;
        sum.max_busy_seen = sum.max_busy_seen.max(*max_busy_seen);
        sum.max_accepted_seen = sum.max_accepted_seen.max(*max_accepted_seen);
        sum.crashes += crashes;
        for (index, counted) in by_policy.iter().enumerate() {
            match sum.by_policy.get_mut(index) {
                Some(sum) => {
                    sum.accepted += counted.accepted;
                    sum.rejected += counted.rejected;
                }
                None => sum.by_policy.push(counted.clone()),
            }
        }
        self.served += *served;
        self.wasted += *wasted;
        self.conflicts += conflicts;
        self.outages += outages;
        self.forced += forced;
        self.revoked += revoked;
        self.lost_requests += lost_requests;
        self.lost_answers += lost_answers;
        self.spoiled += spoiled;
        self.slowed += slowed;
        self.early += early;
    }
}
