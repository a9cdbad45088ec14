//! Recordings of real clients, after a line with a strategy: read, and held against the strategy; and lists of such strategies.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recordings::{Map, check_strategy, read};
use tailback::StrategySpec;

/// Pairs that are held against the strategy, and its attempts: one pair is thousands of ops.
const PAIRS: usize = 2;
const ATTEMPTS: u32 = 4;

fuzz_target!(|text: &str| {
    let (strategy, text) = text.split_once('\n').unwrap_or(("", text));
    drop(Map::default().add_toml(text));
    let Ok(recording) = read(text) else { return };
    let Ok(strategy) = strategy.parse::<StrategySpec>() else { return };
    if strategy.needs_foreknowledge() {
        return;
    }
    let strategy = strategy.with_max_attempts(ATTEMPTS);
    for pair in recording.pairs.iter().take(PAIRS) {
        let verdict = check_strategy(pair, &strategy).map(|verdict| format!("{verdict:?}"));
        let again = check_strategy(pair, &strategy).map(|verdict| format!("{verdict:?}"));
        assert_eq!(verdict.ok(), again.ok());
    }
});
