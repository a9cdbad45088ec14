//! Request counts of a run, of a shard of its clients, or of everything.

use std::time::Duration;

use vocabulary::wire::ServerCounts;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Counts that are reported to clients.
    pub counts: ServerCounts,
    pub served: Duration,
    /// Server time spent on rejections and on work without a result.
    pub wasted: Duration,
    /// Conditional writes whose condition did not hold. Part of the rejected.
    pub conflicts: u64,
    /// Requests that arrived while the server was down. Part of the rejected.
    pub outages: u64,
    /// First attempts of ops, rejected on purpose. Part of the rejected.
    pub forced: u64,
    /// Requests that were accepted and later rejected by a change of policy. Part of the rejected.
    pub revoked: u64,
    /// Requests lost on the way to the server. Not part of the received.
    pub lost_requests: u64,
    pub lost_answers: u64,
    /// Accepted requests whose answers were spoiled by a fault.
    pub spoiled: u64,
    pub slowed: u64,
    /// Requests that arrived before the time advised to their client.
    pub early: u64,
}

impl Account {
    pub(crate) fn add(&mut self, other: &Self) {
        // Destructured without `..`, so that the compiler reports a forgotten field.
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
