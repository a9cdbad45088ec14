//! What one run can be told.

use std::str::FromStr as _;

use clap::{Args, Command, FromArgMatches as _};
use tailback::StrategySpec;

use super::checks::CheckArgs;
use super::client_shard::ClientShardArgs;
use super::explain::ExplainArgs;
use super::output::OutputArgs;
use super::shard::ShardArgs;
use super::shell::{strategies, suggesting};
use super::target::{OF_REAL_REQUESTS, TargetArgs};
use super::workload::WorkloadArgs;

/// Everything about one run, or several with `--repeats`.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Strategy: `name`, `name:key=value,…`, parts combined with `+`; `loadgen strategies` lists them.
    #[arg(short, long, default_value = "aimd", value_name = "S",
          value_parser = suggesting(StrategySpec::from_str, strategies), hide_possible_values = true)]
    pub(crate) strategy: StrategySpec,

    /// Run in virtual time instead of over HTTP: the same client and server on one clock that nobody waits for.
    #[arg(long, conflicts_with_all = OF_REAL_REQUESTS)]
    pub(crate) simulate: bool,

    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) server: mockserver::ServerFlags,

    #[command(flatten)]
    pub(crate) checks: CheckArgs,

    #[command(flatten)]
    pub(crate) shard: ShardArgs,

    #[command(flatten)]
    pub(crate) client_shard: ClientShardArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) explain: ExplainArgs,
}

impl RunArgs {
    /// What holds where nothing is typed.
    pub(crate) fn defaults() -> Self {
        let nothing = Self::augment_args(Command::new("loadgen")).get_matches_from(["loadgen"]);
        Self::from_arg_matches(&nothing).expect("nothing must be typed")
    }
}
