//! Fuzz target of the conditions of `--fail-if`: an accepted condition parses to itself, and can be judged.
#![no_main]

use std::slice::from_ref;
use std::sync::LazyLock;

use experiments::checks::{Condition, Subject, asked_for, judge, refuse_absent, refuse_unknown};
use libfuzzer_sys::fuzz_target;
use results::{RunFigures, RunResult};

static RUN: LazyLock<RunResult> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../seeds/results/run.json")).expect("the seed is a result")
});

fuzz_target!(|text: &str| {
    let Ok(condition) = text.parse::<Condition>() else { return };
    assert_eq!(condition.text.parse().as_ref(), Ok(&condition), "{text}");
    let condition = from_ref(&condition);
    if refuse_unknown(condition).is_err() || refuse_absent(condition, &[&RUN.strategy]).is_err() {
        return;
    }
    let figures = RunFigures::new(asked_for(condition), [&*RUN]);
    assert_eq!(judge(condition, &[Subject::new(&RUN.strategy, &figures)]).len(), 1, "{text}");
});
