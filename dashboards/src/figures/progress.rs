//! Progress of a run: the work done, the estimated end, and the elapsed time as a share of the lower bound on the
//! makespan. The makespan is the time from the first arrival of an op to the end of the last op.

use loadgen_core::Snapshot;

use super::Timeline;
use crate::text;

/// Progress of a run. All times are in seconds of experiment time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(crate) ended: u64,
    /// Number of ended ops that did not succeed. They are included in [`Self::ended`].
    pub(crate) given_up: u64,
    pub(crate) goal: Goal,
    /// Time since the arrival of the run's first op, in seconds of experiment time.
    pub(crate) elapsed_s: f64,
    /// Estimated time left; `None` if the run goes on until it is stopped. For a run with a fixed number of ops, the
    /// estimate is based on the last quarter of the run. It is `None` as long as no op ends. For a run that ends by
    /// time, it is the time until no more ops arrive.
    pub(crate) eta_s: Option<f64>,
    pub(crate) optimal_s: Option<f64>,
}

/// End of a run. A run with a number of ops and a duration ends with the one that is expected first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    Ops(u64),
    /// The run ends by time: ops arrive for this number of seconds. Afterwards, the ops that have arrived are
    /// completed.
    Seconds(f64),
    /// The run has no end of its own and goes on until it is stopped.
    Open,
}

impl Progress {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let ended = snapshot.ops.succeeded + snapshot.ops.given_up;
        let start = snapshot.first_arrival.unwrap_or(snapshot.now);
        let elapsed_s = snapshot.now.since(start).as_secs_f64();
        let ops = snapshot.planned_ops.filter(|ops| *ops > 0);
        let ops_left_s = ops.and_then(|ops| eta(snapshot, ops.saturating_sub(ended), elapsed_s));
        let arrivals = snapshot.planned_duration.filter(|_| ops.is_none_or(|ops| snapshot.ops.arrived < ops));
        let arrivals_left_s =
            arrivals.map(|arrivals| (arrivals.as_secs_f64() - snapshot.now.as_secs_f64()).max(0.0));
        let (goal, eta_s) = match (ops, arrivals) {
            (Some(ops), _)
                if arrivals_left_s.is_none_or(|left_s| ops_left_s.is_some_and(|ops_s| ops_s < left_s)) =>
            {
                (Goal::Ops(ops), ops_left_s)
            }
            (_, Some(arrivals)) => (Goal::Seconds(arrivals.as_secs_f64()), arrivals_left_s),
            _ => (Goal::Open, None),
        };
        let optimal_s = snapshot.optimal_makespan.map(|makespan| makespan.as_secs_f64());
        Self { ended, given_up: snapshot.ops.given_up, goal, elapsed_s, eta_s, optimal_s }
    }

    pub(crate) fn share(&self) -> Option<f64> {
        match self.goal {
            Goal::Ops(ops) => Some((self.ended as f64 / ops as f64).min(1.0)),
            Goal::Seconds(seconds) => Some((self.elapsed_s / seconds.max(1e-9)).min(1.0)),
            Goal::Open => None,
        }
    }

    /// Returns the share of the run's ops that ended without success, 0 to 1. [`Self::share`] includes these ops, too,
    /// although they are no progress. Always 0 for runs without a fixed number of ops.
    pub(crate) fn given_up_share(&self) -> f64 {
        match self.goal {
            Goal::Ops(ops) => (self.given_up as f64 / ops as f64).min(1.0),
            Goal::Seconds(_) | Goal::Open => 0.0,
        }
    }

    pub(crate) fn given_up_text(&self) -> Option<String> {
        (self.given_up > 0).then(|| format!("{} given up", text::count(self.given_up)))
    }

    pub(crate) fn optimal_share(&self) -> Option<f64> {
        Some((self.elapsed_s / self.optimal_s?.max(1e-9)).min(1.0))
    }
}

/// Estimates the remaining time of a run in seconds. Assumes that attempts succeed at the recent rate, and that the
/// share of given-up ops stays the same.
fn eta(snapshot: &Snapshot, remaining: u64, elapsed_s: f64) -> Option<f64> {
    if remaining == 0 {
        return Some(0.0);
    }
    let ops = snapshot.ops;
    let succeeded = Timeline::new(snapshot).counter(|point| point.succeeded);
    let per_s = match ops.succeeded {
        0 => ops.given_up as f64 / elapsed_s.max(1e-9),
        some => {
            let ended_per_success = (ops.succeeded + ops.given_up) as f64 / some as f64;
            succeeded.recent_rate((elapsed_s / 4.0).max(2.0)) * ended_per_success
        }
    };
    (per_s > 0.0).then(|| remaining as f64 / per_s)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vocabulary::Instant;

    use super::*;
    use crate::synthetic_run::SyntheticRun;

    #[test]
    fn the_eta_of_a_steady_run_is_right() {
        let half = Progress::new(&SyntheticRun::aimd().until(12.0));
        let eta = half.eta_s.unwrap();
        assert!((12.0 + eta - 25.5).abs() < 2.0, "{half:?}");
        assert!((half.optimal_share().unwrap() - 12.0 / 20.1).abs() < 0.02, "{half:?}");
    }

    #[test]
    fn given_up_ops_are_distinguished_from_completed_ones() {
        let ops = loadgen_core::OpCounts { arrived: 20, succeeded: 5, given_up: 10, ..Default::default() };
        let progress = Progress::new(&Snapshot { ops, planned_ops: Some(20), ..Snapshot::default() });
        assert_eq!((progress.share(), progress.given_up_share()), (Some(0.75), 0.5));
        assert_eq!(progress.given_up_text().as_deref(), Some("10 given up"));
    }

    #[test]
    fn before_the_first_success_there_is_no_estimate() {
        let start = Progress::new(&SyntheticRun::aimd().until(0.3));
        assert_eq!((start.ended, start.eta_s), (0, None));
        assert_eq!(start.share(), Some(0.0));
    }

    #[test]
    fn progress_without_a_number_of_ops_is_that_of_time() {
        let snapshot = Snapshot {
            now: Instant::from_millis(4_000),
            first_arrival: Some(Instant::ORIGIN),
            planned_duration: Some(Duration::from_secs(10)),
            ..Snapshot::default()
        };
        let progress = Progress::new(&snapshot);
        assert_eq!((progress.share(), progress.eta_s), (Some(0.4), Some(6.0)));
    }

    #[test]
    fn progress_with_ops_and_a_duration_is_that_of_the_earlier_end() {
        let ops = loadgen_core::OpCounts { arrived: 40, succeeded: 0, given_up: 40, ..Default::default() };
        let at_4_s = |planned_ops, arrived| {
            Progress::new(&Snapshot {
                now: Instant::from_millis(4_000),
                first_arrival: Some(Instant::ORIGIN),
                planned_duration: Some(Duration::from_secs(10)),
                planned_ops: Some(planned_ops),
                ops: loadgen_core::OpCounts { arrived, ..ops },
                ..Snapshot::default()
            })
        };
        let by_time = at_4_s(5_000, 40);
        assert_eq!(
            (by_time.goal, by_time.share(), by_time.eta_s),
            (Goal::Seconds(10.0), Some(0.4), Some(6.0))
        );
        let by_ops = at_4_s(50, 40);
        assert_eq!((by_ops.goal, by_ops.share(), by_ops.eta_s), (Goal::Ops(50), Some(0.8), Some(1.0)));
        // Once all ops have arrived, the run ends with their ends.
        assert_eq!(at_4_s(5_000, 5_000).goal, Goal::Ops(5_000));
    }
}
