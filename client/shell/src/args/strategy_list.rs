//! Flag value that lists several strategies, separated by commas.

use std::str::FromStr;

use tailback::{SpecError, StrategySpec};
use vocabulary::split_outside;

#[derive(Clone, Debug)]
pub struct StrategyList(pub Vec<StrategySpec>);

impl FromStr for StrategyList {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split(text).into_iter().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// Splits a list of strategies at commas. A comma separates two strategies if the next word is a strategy's name, or if it contains no `=`.
/// A mistyped name is therefore reported as an unknown strategy and not as a parameter.
fn split(text: &str) -> Vec<&str> {
    let mut strategies = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for piece in split_outside(text, ',') {
        let word = piece.split([':', '+']).next().unwrap_or_default().trim();
        if end > 0 && (tailback::find(word).is_some() || !word.contains('=')) {
            strategies.push(&text[begin..end - 1]);
            begin = end;
        }
        end += piece.len() + 1;
    }
    strategies.push(&text[begin..]);
    strategies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_before_a_parameter_belongs_to_the_strategy_before() {
        assert_eq!(
            split("exponential:jitter=0.5,base=50ms,aimd,oracle"),
            ["exponential:jitter=0.5,base=50ms", "aimd", "oracle"]
        );
        assert_eq!(
            split("aimd:beta=0.5,min=1+retry-budget:ratio=0.1,burst=5,full-jitter:cap=1s,none"),
            ["aimd:beta=0.5,min=1+retry-budget:ratio=0.1,burst=5", "full-jitter:cap=1s", "none"]
        );
        assert_eq!(split("aimd, oracle"), ["aimd", " oracle"]);
        assert_eq!(split("aimd:a=(min(b, none)),oracle"), ["aimd:a=(min(b, none))", "oracle"]);
        assert_eq!(split("aimd+full-jitter,none+breaker"), ["aimd+full-jitter", "none+breaker"]);
    }

    #[test]
    fn a_mistyped_name_is_an_unknown_strategy() {
        let error = "aimd,ful-jitter".parse::<StrategyList>().unwrap_err().to_string();
        assert!(error.contains("`ful-jitter` (did you mean `full-jitter`?)"), "{error}");
        assert!("aimd,".parse::<StrategyList>().is_err());
    }

    #[test]
    fn every_strategy_of_the_registry_can_follow_a_comma() {
        for entry in tailback::STRATEGIES {
            assert_eq!(split(&format!("none,{}:a=1,b=2", entry.name)).len(), 2, "{}", entry.name);
        }
    }
}
