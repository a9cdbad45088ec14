//! Rule `endless`: the client still tries at the situation's limit of attempts. A limit below the usual one counts only for clients that
//! give up earlier without advice.

use crate::observation::{MAX_ATTEMPTS, Observation, ObservedRun};
use crate::rule::{Case, Outcome, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    name: "endless",
    severity: Severity::Warn,
    summary: "still trying after 50 attempts, or after 12 although it ends earlier without advice",
    source: "clients without a limit on attempts or time",
    check,
};

fn check(case: &Case<'_>) -> Outcome {
    let most = case.situation.max_attempts;
    let ends_earlier = |control: &Observation| {
        control.has_retry() && control.runs.iter().all(|run| run.is_over() && run.received < most as u64)
    };
    let earlier = case.controls.iter().find(|(_, control)| ends_earlier(control));
    let but = earlier
        .map(|(title, control)| format!(", but gave up after {} at “{title}”", control.attempts().count()));
    let words =
        || (most, format!("still trying after {most} attempts{}", but.as_deref().unwrap_or_default()));
    let endless = case.found(|run| (run.received >= most as u64).then(words));
    match endless {
        Some(_) if most < MAX_ATTEMPTS && earlier.is_none() => {
            Outcome::NoEvidence("it is not known that the client gives up earlier without advice".to_owned())
        }
        Some(endless) => endless,
        None if !case.observation.is_empty() && case.observation.runs.iter().all(ObservedRun::is_over) => {
            if case.observation.has_retry() {
                Outcome::Passed
            } else {
                case.without_retry()
            }
        }
        None => case.without_retry(),
    }
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
