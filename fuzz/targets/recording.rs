//! Fuzz target of recordings of real clients after a line with a strategy: both are parsed and compared. The
//! recording's text is also parsed as a TOML map from client configurations to strategies.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recordings::{Map, check, read};
use tailback::StrategySpec;

/// Attempts of the strategy, and maximum bytes of recordings that are compared with it, because one pair is thousands
/// of ops.
const ATTEMPTS: u32 = 4;
const SHORT: usize = 2000;

fuzz_target!(|text: &str| {
    let (strategy, text) = text.split_once('\n').unwrap_or(("", text));
    drop(Map::default().add_toml(text));
    let Ok(recording) = read(text) else { return };
    let (Ok(strategy), Some(pair)) = (strategy.parse::<StrategySpec>(), recording.pairs.first()) else {
        return;
    };
    if text.len() <= SHORT && !strategy.needs_foreknowledge() {
        drop(check(pair, Some(&strategy.with_max_attempts(ATTEMPTS))));
    }
});
