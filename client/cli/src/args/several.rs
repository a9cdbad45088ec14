//! What can be told where several strategies run: `loadgen compare` and `loadgen sweep`.

use clap::builder::ArgPredicate;
use clap::{Arg, Args};
use results::Score;

use super::explain::ExplainArgs;
use super::output::ReportArgs;
use super::score::score;
use super::screen::ScreenArgs;
use super::shard::ShardArgs;
use super::target::{OF_REAL_REQUESTS, TargetArgs};
use super::workload::WorkloadArgs;

/// How strategies are run and ranked, and where that goes.
#[derive(Args, Debug)]
pub(crate) struct SeveralArgs {
    /// What strategies are ranked by; less is better.
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

/// One run says nothing of a difference: the default is more than for single experiments.
pub(crate) fn blocks(repeats: Arg) -> Arg {
    repeats
        .default_value("5")
        .default_value_if("simulate", ArgPredicate::Equals("true".into()), "10")
        .hide_default_value(true)
        .help("Seeds, every strategy once with each [default: 5, or 10 with --simulate]")
}
