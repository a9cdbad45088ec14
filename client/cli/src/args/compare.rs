//! What `loadgen compare` can be told.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use tailback::{SpecError, StrategySpec};

use super::several::{SeveralArgs, blocks};
use super::{CheckArgs, FiguresArgs, strategies, suggesting};

pub(super) const EXAMPLES: &str = "\
Examples:
  loadgen compare --simulate --strategies exponential:jitter=0.5,base=50ms,full-jitter,aimd,oracle
      four strategies: a comma begins another one unless `key=` follows, which is a parameter
  loadgen compare --simulate --strategies 'aimd+retry-budget:ratio=0.1,aimd' --by attempts --repeats 30
      who needs the fewest attempts
  loadgen compare --strategies aimd,full-jitter --time-scale 0.2 --json compared.json
      over real HTTP, five blocks, a fresh server for every run
  loadgen compare --strategies aimd,full-jitter --target https://api.example.com/v1/items --in-flight 5 --ops 200
      any HTTP or HTTPS server; somebody must say how much load it gets
  loadgen compare --simulate --strategies aimd,aimd:beta=0.5,fixed-window --sensitivity
      does the ranking stand against other servers?

Every block runs each strategy once, with the same arrivals and the same luck per op, in an order drawn from the seed.
Strategies are ranked by the geometric mean of the score over blocks, and only among those with the same share of
succeeded ops. Differences are ratios paired by block: no interval below 5 repeats, Student's t on their logarithms
from 5, bootstrap from 20, corrected for comparing many (Holm). A server of its own serves every run, unless `--target` names one for all.
Exit codes: 0 done, 1 no op of a run succeeded or ops failed for good, 2 bad usage, 69 target unreachable,
70 counts do not add up, 74 output cannot be written, 99 a check failed, 129, 130 and 143 interrupted.";

/// Which strategies are compared, how often, and in what.
#[derive(Args, Debug)]
#[command(mut_arg("repeats", blocks))]
pub(crate) struct CompareArgs {
    /// Strategies to compare, at least two, each with its parameters; may be given several times.
    ///
    /// A comma begins another strategy unless `key=` follows: `exponential:jitter=0.5,base=50ms,aimd` are two.
    #[arg(short, long, required = true, value_name = "S,S,…", hide_possible_values = true,
          value_parser = suggesting(StrategyList::from_str, strategies))]
    pub(crate) strategies: Vec<StrategyList>,

    /// Rank again with a cap 20 % lower and higher, lognormal service times and a jittered network.
    #[arg(long)]
    pub(crate) sensitivity: bool,

    #[command(flatten)]
    pub(crate) checks: CheckArgs,

    #[command(flatten)]
    pub(crate) figures: FiguresArgs,

    #[command(flatten)]
    pub(crate) several: SeveralArgs,
}

/// A figure that strategies are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Score {
    /// Time from the first arrival to the last success.
    Makespan,
    /// Attempts sent.
    Attempts,
    /// Mean op latency.
    Mean,
    /// Median op latency.
    P50,
    /// 95th percentile of op latency.
    P95,
    /// 99th percentile of op latency.
    P99,
    /// Longest op latency.
    Max,
}

/// Several strategies as they are typed after one flag.
#[derive(Clone, Debug)]
pub(crate) struct StrategyList(pub(crate) Vec<StrategySpec>);

impl FromStr for StrategyList {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split(text).into_iter().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// Splits at the commas that begin another strategy: those that the name of one follows, or at least no `key=value`,
/// so that a mistyped name is called an unknown strategy and not a parameter.
fn split(text: &str) -> Vec<&str> {
    let mut strategies = Vec::new();
    let mut begin = 0;
    for (comma, _) in text.match_indices(',') {
        let rest = &text[comma + 1..];
        let word = rest.split([':', '+', ',']).next().unwrap_or_default().trim();
        if tailback::find(word).is_some() || !word.contains('=') {
            strategies.push(&text[begin..comma]);
            begin = comma + 1;
        }
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
        assert_eq!(split("aimd+full-jitter,none+breaker"), ["aimd+full-jitter", "none+breaker"]);
    }

    #[test]
    fn a_mistyped_name_is_an_unknown_strategy() {
        let error = "aimd,ful-jitter".parse::<StrategyList>().unwrap_err().to_string();
        assert!(error.contains("`ful-jitter`; did you mean `full-jitter`?"), "{error}");
        assert!("aimd,".parse::<StrategyList>().is_err());
    }

    #[test]
    fn every_strategy_of_the_registry_can_follow_a_comma() {
        for entry in tailback::STRATEGIES {
            assert_eq!(split(&format!("none,{}:a=1,b=2", entry.name)).len(), 2, "{}", entry.name);
        }
    }
}
