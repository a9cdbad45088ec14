//! Rule `no-jitter`: the delays of all runs are equal, so clients that fail together also retry together.

use std::time::Duration;

use crate::observation::Observation;
use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::range;

pub(crate) const RULE: Rule = Rule {
    name: "no-jitter",
    severity: Severity::Warn,
    summary: "the delays of five runs, or of six of ten, differ by less than 5 ms + 2 %",
    source: "AWS Architecture Blog, Exponential Backoff And Jitter (2015)",
    check,
};

const MIN_RUNS: usize = 5;

/// Number of runs from which a part of them decides.
const MANY_RUNS: usize = 10;

fn check(case: &Case<'_>) -> Outcome {
    if case.observation.is_advised() {
        return Outcome::NoEvidence("the answers advise a wait".to_owned());
    }
    let delays: Vec<Vec<Duration>> = case.observation.delays(MIN_RUNS).collect();
    if delays.is_empty() {
        if !case.observation.has_retry() {
            return case.without_retry();
        }
        return Outcome::NoEvidence(format!("fewer than {MIN_RUNS} runs with a retry"));
    }
    let steady: Vec<Vec<Duration>> = delays.iter().map(|delays| near_the_smallest(delays)).collect();
    let is_steady = |(all, steady): (&Vec<Duration>, &Vec<Duration>)| match all.len() {
        MANY_RUNS.. => steady.len() * 10 >= all.len() * 6,
        few => steady.len() == few,
    };
    if !delays.iter().zip(&steady).all(is_steady) {
        return Outcome::Passed;
    }
    let each: Vec<String> = steady.iter().map(|delays| range(delays)).collect();
    let (alike, runs) = (steady.iter().map(Vec::len).min().unwrap_or(0), case.observation.runs.len());
    let share = if alike == runs { format!("all {runs}") } else { format!("{alike} of {runs}") };
    Outcome::Found {
        text: format!("the same delays in {share} runs: {}", each.join(", ")),
        evidence: case.evidence(|_| 2..delays.len() + 2),
    }
}

/// Whether the two smallest delays of each retry are alike, so that further runs decide. A busy machine makes only some delays longer.
pub(crate) fn may_be_steady(observation: &Observation) -> bool {
    let mut delays = observation.delays(MIN_RUNS).peekable();
    delays.peek().is_some() && delays.all(|delays| near_the_smallest(&delays).len() >= 2)
}

/// Returns the delays that differ from the smallest one by less than 5 ms + 2 %.
fn near_the_smallest(delays: &[Duration]) -> Vec<Duration> {
    let smallest = delays.iter().min().copied().unwrap_or_default();
    let is_near = |delay: &Duration| delay.saturating_sub(smallest) < Duration::from_millis(5) + *delay / 50;
    delays.iter().copied().filter(is_near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, outcome_of_runs};

    #[test]
    fn equal_delays_in_five_runs_are_found() {
        let judged = |delays: &[&[f64]]| outcome_of_runs(&RULE, "503|503|200", delays, &Setup::default());
        let steady: &[f64] = &[0.5, 1.0];
        let Outcome::Found { text, .. } = judged(&[steady, &[0.501, 1.02], steady, steady, steady]) else {
            panic!("there is no jitter")
        };
        assert_eq!(text, "the same delays in all 5 runs: 0.50 s, 1.00–1.02 s");
        assert_eq!(judged(&[steady, &[0.5, 1.1], steady, steady, steady]), Outcome::Passed);
        let slow: &[f64] = &[0.6, 1.3];
        let mut ten = vec![steady; 6];
        ten.extend([slow; 4]);
        let Outcome::Found { text, .. } = judged(&ten) else { panic!("four runs were slow") };
        assert_eq!(text, "the same delays in 6 of 10 runs: 0.50 s, 1.00 s");
        ten[0] = slow;
        assert_eq!(judged(&ten), Outcome::Passed);
        assert!(matches!(judged(&[steady, steady, steady, steady]), Outcome::NoEvidence(_)));
        let Outcome::NoEvidence(why) = judged(&[&[] as &[f64]; 5]) else { panic!("nothing was retried") };
        assert_eq!(why, "no retry observed");
    }
}
