//! Recognition of strategies that know the future (oracles). Oracles serve as references for other strategies and are never the best
//! strategy of an answer.

use tailback::{ORACLE, StrategySpec};

pub fn knows_the_future(strategy: &str) -> bool {
    strategy.parse::<StrategySpec>().map_or_else(
        // A strategy in a document of another version may not parse. In that case, the names of its parts show whether it is an oracle,
        // which knows the server's future.
        |_| strategy.split('+').any(|part| part.split(':').next().is_some_and(|name| name.trim() == ORACLE)),
        |spec| spec.needs_foreknowledge(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_is_known_in_any_part_and_from_other_versions() {
        for strategy in
            ["oracle", "fixed-window:window=60+oracle", "oracle+full-jitter", "novel:x=1+oracle:y=2"]
        {
            assert!(knows_the_future(strategy), "{strategy}");
        }
        for strategy in ["aimd", "fixed-window:window=60", "novel:x=oracle", ""] {
            assert!(!knows_the_future(strategy), "{strategy}");
        }
    }
}
