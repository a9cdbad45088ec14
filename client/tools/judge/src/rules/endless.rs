//! Rule `endless`: the client still tries after [`MAX_ATTEMPTS`] attempts.

use crate::observation::{MAX_ATTEMPTS, ObservedRun};
use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "endless",
    severity: Severity::Warn,
    summary: "still trying after 50 attempts",
    source: "clients without a limit on attempts or time",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let words = || (MAX_ATTEMPTS, format!("still trying after {MAX_ATTEMPTS} attempts"));
    let endless = case.found(|run| (run.received >= MAX_ATTEMPTS as u64).then(words));
    endless.unwrap_or_else(|| {
        let is_over = !case.observation.is_empty() && case.observation.runs.iter().all(ObservedRun::is_over);
        if is_over { Outcome::Passed } else { case.without_retry() }
    })
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
