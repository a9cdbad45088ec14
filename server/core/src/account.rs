//! Request counts. Counts are kept for a run, or for all requests.

use std::time::Duration;

use wire::ServerCounts;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub counts: ServerCounts,
    pub served: Duration,
    /// Server time spent on rejections, on cancelled requests, and on requests whose answer was spoiled by an injected fault.
    pub wasted: Duration,
    /// Number of conditional writes rejected because the object's version had changed. The count of rejected requests includes them.
    pub conflicts: u64,
    /// Number of requests rejected because the server was down. The count of rejected requests includes them.
    pub outages: u64,
    /// Number of attempts rejected because of the setting `reject_first`, which rejects the first attempts of every op. The count of
    /// rejected requests includes them.
    pub forced: u64,
    /// Number of requests that were accepted and later rejected because the policy changed. The count of rejected requests includes them.
    pub revoked: u64,
    /// Number of requests lost on the way to the server. The count of received requests does not include them.
    pub lost_requests: u64,
    pub lost_answers: u64,
    /// Number of accepted requests whose answer was replaced, cut off or not sent because of an injected fault.
    pub spoiled: u64,
    pub slowed: u64,
    /// Number of requests that arrived before the instant at which their client was advised to retry.
    pub early: u64,
}

impl Account {
    pub(crate) fn add(&mut self, other: &Self) {
        // The structs are destructured without `..`. The compiler therefore reports an error if a new field is missing from this sum.
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
