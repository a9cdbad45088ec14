//! What `loadgen reproduce` can be told.

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;
use vocabulary::TimeScale;

use crate::args::exports::{ExportArgs, Reproduction};
use crate::args::shell::{scenarios, suggesting};
use crate::args::{ExplainArgs, ReportArgs};

pub(crate) const EXAMPLES: &str = "\
Examples:
  loadgen reproduce
      all scenarios in virtual time, in under a minute
  loadgen reproduce occ --repeats 100 --json occ.json
      one of them, with more seeds
  loadgen reproduce sync-musings --http
      over real HTTP
  loadgen reproduce sync-musings --set server.max_busy=100
      with another server: which claims still hold?
  loadgen reproduce --scenario mine.toml
      an experiment of your own

Exit codes: 0 every claim came out as expected, 1 some did not, 2 bad usage or scenario,
69 its own server does not answer (--http), 70 counts do not add up, 74 output cannot be written,
129, 130 and 143 interrupted.";

/// Which scenarios, how often, and over what.
#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// Scenarios by name [default: all that are built in]; `--list` lists them.
    #[arg(value_parser = suggesting(StringValueParser::new(), scenarios), hide_possible_values = true)]
    pub(crate) names: Vec<String>,

    /// List the scenarios that are built in.
    #[arg(long)]
    pub(crate) list: bool,

    /// A scenario of your own: a TOML file (its format is described in docs/scenarios.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,

    /// Override any value of the scenario, such as `server.max_busy=20`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Seeds of every cell [default: as the scenario says].
    #[arg(long, value_name = "N", value_parser = mockserver::count::<u32>(1, 100_000))]
    pub(crate) repeats: Option<u32>,

    /// The first seed [default: as the scenario says].
    #[arg(long, value_name = "N", value_parser = mockserver::count::<u64>(0, u64::MAX))]
    pub(crate) seed: Option<u64>,

    /// Over real HTTP, where the scenario can be.
    #[arg(long)]
    pub(crate) http: bool,

    /// Real seconds per second of the experiment, over HTTP [default: as the scenario says].
    #[arg(long, value_name = "F", requires = "http", value_parser = TimeScale::parse)]
    pub(crate) time_scale: Option<TimeScale>,

    /// Refused with the reason.
    #[arg(long, hide = true, value_name = "I/N", value_parser = not_in_shards)]
    shard: Option<String>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Reproduction>,

    #[command(flatten)]
    pub(crate) output: ReportArgs,

    #[command(flatten)]
    pub(crate) explain: ExplainArgs,
}

/// What is judged of a scenario depends on all of its runs.
fn not_in_shards(_: &str) -> Result<String, String> {
    Err("scenarios are not done in shards: name some of them on each machine, such as `loadgen reproduce occ`".to_owned())
}
