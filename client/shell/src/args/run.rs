//! Flags of `loadgen` without a subcommand: one run, or several with `--repeats`.

use std::str::FromStr as _;

use clap::{Args, Command, FromArgMatches as _};
use tailback::StrategySpec;

use crate::CheckArgs;
use crate::args::output::{ExplainArgs, OutputArgs};
use crate::args::several::ShardArgs;
use crate::args::shell::{strategies, suggesting};
use crate::args::target::{OF_REAL_REQUESTS, TargetArgs};
use crate::args::values::PositionalUrl;
use crate::args::workload::WorkloadArgs;

/// Flags of one run, or of several with `--repeats`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// URL of the server to test, as with --target.
    #[arg(value_name = "URL", value_parser = PositionalUrl, conflicts_with_all = ["target", "simulate"],
          hide_short_help = true)]
    pub url: Option<String>,

    /// Strategy [default: aimd; none for a foreign server].
    ///
    /// A name, perhaps with parameters, or parts combined with `+`: `aimd:beta=0.5+retry-budget`. `loadgen strategies` lists
    /// the names. A foreign server is a --target that is not a mockserver.
    #[arg(short, long, value_name = "S",
          value_parser = suggesting(StrategySpec::from_str, strategies), hide_possible_values = true)]
    pub strategy: Option<StrategySpec>,

    /// Run in virtual time instead of over HTTP.
    ///
    /// Client and server code are the same; a run is instantaneous and deterministic.
    #[arg(long, conflicts_with_all = OF_REAL_REQUESTS)]
    pub simulate: bool,

    #[command(flatten)]
    pub workload: WorkloadArgs,

    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub server: mockserver::ServerFlags,

    #[command(flatten)]
    pub checks: CheckArgs,

    #[command(flatten)]
    pub shard: ShardArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub explain: ExplainArgs,
}

impl RunArgs {
    /// Moves a URL without a flag to `--target`.
    #[must_use]
    pub fn with_url(mut self) -> Self {
        self.target.target = self.url.take().or(self.target.target);
        self
    }

    pub fn defaults() -> Self {
        let nothing = Self::augment_args(Command::new("loadgen")).get_matches_from(["loadgen"]);
        Self::from_arg_matches(&nothing).expect("no flag is required")
    }
}
