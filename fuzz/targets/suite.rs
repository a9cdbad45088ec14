//! Fuzz target of the suites of `loadgen judge --suite`: a client that is observed in an accepted suite can be judged.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use judge::{OperationType, Simulated, SuiteText};
use tailback::StrategySpec;

/// Seconds of the advice that replaces `{seconds}`.
const ADVICE_S: u64 = 3;
const IDLE: Duration = Duration::from_secs(5);
/// Maximum bytes of suites that are observed, because a longer suite can have thousands of runs.
const SHORT: usize = 2000;

fuzz_target!(|text: &str| {
    let suite = SuiteText::new(text.to_owned(), ADVICE_S);
    if suite.parse().is_err() || text.len() > SHORT {
        return;
    }
    let strategy: StrategySpec = "full-jitter:max-attempts=4,retry-after=floor".parse().expect("it is a strategy");
    for operation in [OperationType::Read, OperationType::Write] {
        let simulated = Simulated { strategy: &strategy, operation, seed: 1, idle: IDLE };
        simulated.report(&suite).expect("the strategy can be started");
    }
});
