//! Rule `no-jitter`: the delays of all runs are equal, so clients that fail together also retry together.

use std::time::Duration;

use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::{extremes, range};

pub(crate) const RULE: Rule = Rule {
    name: "no-jitter",
    severity: Severity::Warn,
    summary: "the delays of five runs differ by less than 5 ms + 2 %",
    source: "AWS Architecture Blog, Exponential Backoff And Jitter (2015)",
    check,
};

const MIN_RUNS: usize = 5;

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
    if !delays.iter().all(|delays| is_steady(delays)) {
        return Outcome::Passed;
    }
    let each: Vec<String> = delays.iter().map(|delays| range(delays)).collect();
    let runs = case.observation.runs.len();
    Outcome::Found {
        text: format!("the same delays in all {runs} runs: {}", each.join(", ")),
        evidence: case.evidence(|_| 2..delays.len() + 2),
    }
}

fn is_steady(delays: &[Duration]) -> bool {
    extremes(delays)
        .is_some_and(|(low, high)| high.saturating_sub(low) < Duration::from_millis(5) + high / 50)
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
        assert!(matches!(judged(&[steady, steady, steady, steady]), Outcome::NoEvidence(_)));
        let Outcome::NoEvidence(why) = judged(&[&[] as &[f64]; 5]) else { panic!("nothing was retried") };
        assert_eq!(why, "no retry observed");
    }
}
