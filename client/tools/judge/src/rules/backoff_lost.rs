//! Rule `backoff-lost`: after advice that names no time, the client retries at once, although it has delays of its own.

use std::time::Duration;

use crate::rule::{Case, Outcome, Rule, Severity};
use crate::words::delay;

pub(crate) const RULE: Rule = Rule {
    name: "backoff-lost",
    severity: Severity::Warn,
    summary: "delays after useless advice that are below a tenth of those without advice, in every run",
    source: "will-ockmore/httpx-retries: a past date gives a delay of 0",
    check,
};

/// Own delay of which a tenth is clearly longer than the work of a client.
const MIN_OWN: Duration = Duration::from_millis(100);
const MIN_RUNS: usize = 5;

fn check(case: &Case<'_>) -> Outcome {
    if !case.situation.is_made_for(RULE.name) {
        return Outcome::NoEvidence("the advice is not useless".to_owned());
    }
    let [first, second] = [1, 2].map(|index| median(case, index));
    let (Some(first), Some(second)) = (first, second) else { return case.without_retry() };
    if first.max(second) < MIN_OWN {
        let why = format!("without advice the client waits for only {}, too", delay(first.max(second)));
        return Outcome::NoEvidence(why);
    }
    // A short own delay proves nothing: some clients retry at once for the first time.
    let is_short = |delay: Duration, own: Duration| own < MIN_OWN || delay < own / 10;
    let lost = case.found(|run| {
        let mut delays = run.retries().map(|retry| retry.delay());
        let both = delays.next().zip(delays.next());
        both.filter(|both| is_short(both.0, first) && is_short(both.1, second)).map(|both| {
            let [one, two, first, second] = [both.0, both.1, first, second].map(delay);
            (2, format!("delays of {one} and {two}, but without advice typically {first} and {second}"))
        })
    });
    match lost {
        Some(Outcome::Found { text, evidence }) if evidence.len() == case.observation.runs.len() => {
            Outcome::Found { text, evidence }
        }
        _ if case.observation.has_retry() => Outcome::Passed,
        _ => case.without_retry(),
    }
}

/// Returns the median of the own delays of the retry with this index.
fn median(case: &Case<'_>, index: usize) -> Option<Duration> {
    let controls = case.own_retries().filter(|control| control.runs.len() >= MIN_RUNS);
    let mut own: Vec<Duration> = controls.flat_map(|control| control.delays_of(index)).collect();
    own.sort_unstable();
    own.get(own.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn both_delays_must_be_lost() {
        let judged = |delays: &[f64], control: &'static [f64]| {
            let setup =
                Setup { control: Some(("429|429|200", control)), control_runs: 5, ..Setup::default() };
            outcome(&RULE, "429 retry-after:soon", delays, &setup)
        };
        let own = &[0.5, 1.0];
        let Outcome::Found { text, .. } = judged(&[0.01, 0.045], own) else { panic!("they are lost") };
        assert_eq!(text, "delays of 10 ms and 45 ms, but without advice typically 0.50 s and 1.00 s");
        assert_eq!(judged(&[0.01, 0.11], own), Outcome::Passed);
        assert_eq!(judged(&[0.06, 0.01], own), Outcome::Passed);
        assert!(matches!(judged(&[0.01, 0.045], &[0.0, 0.7]), Outcome::Found { .. }), "its first delay is 0");
        assert!(matches!(judged(&[0.001, 0.001], &[0.09, 0.09]), Outcome::NoEvidence(_)));
    }
}
