//! Flags that `loadgen compare` and `loadgen sweep` share.

use std::env;
use std::str::FromStr;

use clap::builder::{ArgPredicate, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use experiments::runs::shard::Shard;
use results::Score;
use tailback::{SpecError, StrategySpec};
use vocabulary::split_outside;

use crate::args::output::{ExplainArgs, ReportArgs, ScreenArgs};
use crate::args::target::{OF_REAL_REQUESTS, TargetArgs};
use crate::args::workload::WorkloadArgs;

/// Flags for running several strategies, for ranking them, and for the output.
#[derive(Args, Debug)]
pub struct MultiArgs {
    /// Figure that strategies are ranked by; less is better.
    #[arg(long, value_parser = score(), default_value = "makespan", value_name = "FIGURE", help_heading = None)]
    pub by: Score,

    /// Run in virtual time instead of over HTTP.
    #[arg(long, conflicts_with_all = OF_REAL_REQUESTS, help_heading = None)]
    pub simulate: bool,

    #[command(flatten)]
    pub workload: WorkloadArgs,

    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub server: mockserver::ServerFlags,

    #[command(flatten)]
    pub shard: ShardArgs,

    #[command(flatten)]
    pub screen: ScreenArgs,

    #[command(flatten)]
    pub output: ReportArgs,

    #[command(flatten)]
    pub explain: ExplainArgs,
}

/// Raises the default of `--repeats` to 5, or to 10 with `--simulate`, because one run per strategy cannot show that strategies differ.
pub fn blocks(repeats: Arg) -> Arg {
    repeats
        .default_value("5")
        .default_value_if("simulate", ArgPredicate::Equals("true".into()), "10")
        .hide_default_value(true)
        .help("Seeds; every strategy runs once with each [default: 5, or 10 with --simulate]")
}

/// Returns the parser of `--by`, the figure that strategies are ranked by.
fn score() -> impl TypedValueParser<Value = Score> {
    let values = Score::all().map(|score| PossibleValue::new(score.key()).help(score.help()));
    PossibleValuesParser::new(values).try_map(|key| key.parse::<Score>())
}

/// Variables with the index of a job's task, in the order in which they are looked up. The second name of a pair is the variable with the
/// first index, which is 0 if there is none.
const INDEXES: [(&str, Option<&str>); 3] = [
    ("JOB_COMPLETION_INDEX", None),
    ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN")),
    ("AWS_BATCH_JOB_ARRAY_INDEX", None),
];

#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Shards")]
pub struct ShardArgs {
    /// Execute only every Nth block, starting at block I (from 0), such as `0/4`, and write the results with `--json`. A block is all
    /// strategies at one point with one seed. `loadgen merge` turns the documents of all shards into the document of the whole command.
    /// `auto/4` takes the index from the environment of an Indexed Job, a Slurm array or an AWS Batch array.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
}

fn shard(text: &str) -> Result<Shard, String> {
    let Some(of) = text.strip_prefix("auto/") else { return text.parse() };
    let text = format!("{}/{of}", index(|name| env::var(name).ok())?);
    text.parse().map_err(|why| format!("`auto` is {text} here; {why}"))
}

fn index(variable: impl Fn(&str) -> Option<String>) -> Result<u64, String> {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(text) = variable(name) else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| format!("`{name}` is `{text}`, which is no index"))
    };
    for (name, first) in INDEXES {
        if let Some(index) = number(name)? {
            let first = first.map_or(Ok(None), number)?.unwrap_or_default();
            return index
                .checked_sub(first)
                .ok_or_else(|| format!("`{name}` is {index}, below the first index {first}"));
        }
    }
    let names: Vec<String> = INDEXES.iter().map(|(name, _)| format!("`{name}`")).collect();
    Err(format!(
        "`auto` needs one of the variables {}; give the index itself, such as `0/4`",
        names.join(", ")
    ))
}

/// Flag value that lists several strategies, separated by commas.
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
    fn the_index_of_a_job_is_taken_from_the_first_variable() {
        let of = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> =
                set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            index(move |name| set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone()))
        };
        assert_eq!(of(&[("JOB_COMPLETION_INDEX", "3"), ("AWS_BATCH_JOB_ARRAY_INDEX", "7")]), Ok(3));
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "11"), ("SLURM_ARRAY_TASK_MIN", "10")]), Ok(1));
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "2")]), Ok(2));
        assert!(of(&[("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_ARRAY_TASK_MIN", "3")]).is_err());
        assert!(of(&[("JOB_COMPLETION_INDEX", "x")]).unwrap_err().contains("`JOB_COMPLETION_INDEX` is `x`"));
        let error = of(&[]).unwrap_err();
        assert!(INDEXES.iter().all(|(name, _)| error.contains(name)), "{error}");
    }

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
