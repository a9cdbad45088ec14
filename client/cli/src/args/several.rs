//! Flags that `loadgen compare` and `loadgen sweep` share.

use clap::builder::{ArgPredicate, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use results::Score;

use super::explain::ExplainArgs;
use super::output::ReportArgs;
use super::screen::ScreenArgs;
use super::shard::ShardArgs;
use super::target::{OF_REAL_REQUESTS, TargetArgs};
use super::workload::WorkloadArgs;

/// Flags for running several strategies, for ranking them, and for the output.
#[derive(Args, Debug)]
pub(crate) struct MultiArgs {
    /// Figure that strategies are ranked by; less is better.
    #[arg(long, value_parser = score(), default_value = "makespan", value_name = "FIGURE", help_heading = None)]
    pub(crate) by: Score,

    /// Run in virtual time instead of over HTTP.
    #[arg(long, conflicts_with_all = OF_REAL_REQUESTS, help_heading = None)]
    pub(crate) simulate: bool,

    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) server: mockserver::ServerFlags,

    #[command(flatten)]
    pub(crate) shard: ShardArgs,

    #[command(flatten)]
    pub(crate) screen: ScreenArgs,

    #[command(flatten)]
    pub(crate) output: ReportArgs,

    #[command(flatten)]
    pub(crate) explain: ExplainArgs,
}

/// Raises the default of `--repeats` to 5, or to 10 with `--simulate`, because one run per strategy cannot show that strategies differ.
pub(crate) fn blocks(repeats: Arg) -> Arg {
    repeats
        .default_value("5")
        .default_value_if("simulate", ArgPredicate::Equals("true".into()), "10")
        .hide_default_value(true)
        .help("Seeds; every strategy runs once with each [default: 5, or 10 with --simulate]")
}

/// Returns the parser of `--by`, the figure that strategies are ranked by.
pub(crate) fn score() -> impl TypedValueParser<Value = Score> {
    let values = Score::all().map(|score| PossibleValue::new(score.key()).help(score.help()));
    PossibleValuesParser::new(values).try_map(|key| key.parse::<Score>())
}
