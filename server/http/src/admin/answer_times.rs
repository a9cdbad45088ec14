//! Histograms of answer times for `GET /metrics`, one per verdict.

use std::time::Duration;

use mockserver_core::ServerDecision;

/// Inclusive upper bounds of the histogram's buckets. One more bucket counts longer times.
pub(crate) const BOUNDS: [Duration; 15] = [
    Duration::from_millis(1),
    Duration::from_micros(2500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(2500),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(25),
    Duration::from_mins(1),
];

/// One histogram of answer times per verdict, in experiment time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerTimes {
    pub(crate) accepted: Buckets,
    pub(crate) rejected: Buckets,
    pub(crate) failed: Buckets,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buckets {
    counts: [u64; BOUNDS.len() + 1],
    pub(crate) sum: Duration,
}

impl AnswerTimes {
    pub(crate) fn observe(&mut self, verdict: ServerDecision, took: Duration) {
        let buckets = match verdict {
            ServerDecision::Accepted => &mut self.accepted,
            ServerDecision::Rejected | ServerDecision::Conflict => &mut self.rejected,
            ServerDecision::Failed => &mut self.failed,
            // A deferred request was not started, so it has no answer time.
            ServerDecision::Deferred => return,
        };
        buckets.counts[BOUNDS.partition_point(|bound| *bound < took)] += 1;
        buckets.sum += took;
    }
}

impl Buckets {
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = u64> {
        self.counts.into_iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        })
    }
}
