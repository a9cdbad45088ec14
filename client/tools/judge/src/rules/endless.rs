//! Rule `endless`: the client still tries after [`MAX_ATTEMPTS`] attempts.

use crate::observation::MAX_ATTEMPTS;
use crate::rule::{Case, Evidence, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "endless",
    severity: Severity::Warn,
    summary: "still trying after 50 attempts",
    source: "clients without a limit on attempts or time",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let endless: Vec<Evidence> = case
        .runs()
        .filter(|(_, run)| run.received >= MAX_ATTEMPTS as u64)
        .map(|(run, _)| Evidence { run, attempts: vec![MAX_ATTEMPTS] })
        .collect();
    if !endless.is_empty() {
        return Outcome::Found {
            text: format!("still trying after {MAX_ATTEMPTS} attempts"),
            evidence: endless,
        };
    }
    if case.runs().any(|(_, run)| !run.is_over()) {
        return case.without_retry();
    }
    if case.observation.is_empty() { case.without_retry() } else { Outcome::Passed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::End;
    use crate::rules::testing::{Setup, outcome};

    #[test]
    fn fifty_attempts_are_endless() {
        let judged = |retries: usize| outcome(&RULE, "503", &vec![0.1; retries], &Setup::default());
        assert_eq!(judged(48), Outcome::Passed);
        let Outcome::Found { text, .. } = judged(49) else { panic!("it does not end") };
        assert_eq!(text, "still trying after 50 attempts");
        let waiting = Setup { end: End::Idle, ..Setup::default() };
        assert!(matches!(outcome(&RULE, "503", &[0.1], &waiting), Outcome::NoEvidence(_)));
    }
}
