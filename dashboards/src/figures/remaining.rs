//! Progress of a comparison of strategies: the share of its runs that is done, and the estimated time left.

use std::time::Duration;

use super::Progress;
use crate::Lanes;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Remaining {
    pub(crate) done: usize,
    pub(crate) runs: usize,
    /// Share of the work of all runs that is done, 0 to 1, weighted by the runs' durations.
    pub(crate) share: f64,
    /// Estimated wall time in seconds until all runs are done; `None` if unknown.
    pub(crate) eta_s: Option<f64>,
}

impl Remaining {
    /// Estimates the progress of a comparison. Each remaining run is assumed to take as long as the earlier runs of the
    /// same strategy on average. If the strategy has no earlier runs, the earlier runs of all strategies are used. As
    /// long as no run has ended, the estimated duration of the run in progress is used for every run.
    pub(crate) fn new(lanes: &Lanes, time_scale: f64) -> Self {
        let sum = |of: fn(&crate::Lane) -> usize| lanes.lanes.iter().map(of).sum::<usize>();
        let (done, runs) = (sum(|lane| lane.done), sum(|lane| lane.runs));
        let took: Duration = lanes.lanes.iter().map(|lane| lane.took).sum();
        let under_way = lanes.lanes.iter().find_map(|lane| {
            let frame = lane.run.as_deref().filter(|_| lane.running)?;
            Some(Progress::new(&frame.snapshot))
        });
        let elapsed_s = under_way.map_or(0.0, |run| run.elapsed_s * time_scale);
        let usual_s = match (done, under_way) {
            (0, Some(run)) => run.eta_s.map(|eta_s| elapsed_s + eta_s * time_scale),
            (0, None) => None,
            _ => Some(took.as_secs_f64() / done as f64),
        };
        let mut left_s = usual_s.map(|_| 0.0);
        for lane in &lanes.lanes {
            let each_s =
                if lane.done > 0 { Some(lane.took.as_secs_f64() / lane.done as f64) } else { usual_s };
            let mut rest_s = each_s.map(|each_s| each_s * lane.runs.saturating_sub(lane.done) as f64);
            if lane.running {
                // The elapsed time of the run is capped at its expected duration, because a run that has taken longer
                // may end at any moment.
                rest_s = rest_s.zip(each_s).map(|(left, each)| left - elapsed_s.min(each));
            }
            left_s = left_s.zip(rest_s).map(|(left, rest)| left + rest);
        }
        let at_once = lanes.at_once.max(1) as f64;
        let spent_s = took.as_secs_f64() + elapsed_s;
        let share = match left_s {
            _ if done == runs => 1.0,
            Some(left_s) if left_s + spent_s > 0.0 => spent_s / (spent_s + left_s),
            _ => done as f64 / runs.max(1) as f64,
        };
        Self { done, runs, share, eta_s: left_s.map(|left_s| left_s / at_once) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic_run::SyntheticRun;
    use crate::{Frame, Lane};

    fn lane(done: usize, runs: usize, took_s: u64) -> Lane {
        Lane { done, runs, took: Duration::from_secs(took_s), ..Lane::default() }
    }

    fn remaining(lanes: Vec<Lane>, at_once: usize) -> Remaining {
        Remaining::new(&Lanes { at_once, lanes, ..Lanes::default() }, 1.0)
    }

    #[test]
    fn slow_strategies_count_for_as_long_as_they_take() {
        // Two runs of 10 s and three of 30 s are left.
        let halfway = remaining(vec![lane(3, 5, 30), lane(2, 5, 60)], 1);
        assert_eq!((halfway.done, halfway.runs, halfway.eta_s), (5, 10, Some(110.0)));
        assert!((halfway.share - 90.0 / 200.0).abs() < 1e-12, "{halfway:?}");
    }

    #[test]
    fn an_unmeasured_strategy_is_estimated_like_the_others() {
        assert_eq!(remaining(vec![lane(2, 2, 20), lane(0, 2, 0)], 1).eta_s, Some(20.0));
        assert_eq!(remaining(vec![lane(2, 2, 20), lane(0, 2, 0)], 2).eta_s, Some(10.0));
    }

    #[test]
    fn the_first_run_predicts_all_until_it_ends() {
        assert_eq!(remaining(vec![lane(0, 2, 0)], 1).eta_s, None);
        let frame = Frame { snapshot: SyntheticRun::aimd().until(12.0), ..Frame::default() };
        let first = Lane { running: true, run: Some(Box::new(frame)), ..lane(0, 2, 0) };
        let eta_s = remaining(vec![first, lane(0, 2, 0)], 1).eta_s.unwrap();
        assert!((eta_s - (4.0 * 25.5 - 12.0)).abs() < 8.0, "{eta_s}");
    }

    #[test]
    fn nothing_remains_when_all_is_done() {
        let over = remaining(vec![lane(5, 5, 10)], 2);
        assert_eq!((over.eta_s, over.share), (Some(0.0), 1.0));
        assert_eq!(remaining(Vec::new(), 1).eta_s, None);
    }
}
