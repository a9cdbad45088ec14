//! Flags that `loadgen compare` and `loadgen sweep` share.

use clap::builder::{ArgPredicate, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use results::Score;

use crate::args::explain::ExplainArgs;
use crate::args::output::ReportArgs;
use crate::args::screen::ScreenArgs;
use crate::args::shard::ShardArgs;
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
pub(super) fn score() -> impl TypedValueParser<Value = Score> {
    let values = Score::all().map(|score| PossibleValue::new(score.key()).help(score.help()));
    PossibleValuesParser::new(values).try_map(|key| key.parse::<Score>())
}
