//! Flags of `loadgen reproduce`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;
use shell::args::exports::{ExportArgs, Reproduction};
use shell::args::shell::suggesting;
use shell::args::{ExplainArgs, ReportArgs};
use vocabulary::TimeScale;

use crate::scenario::EMBEDDED;

pub const EXAMPLES: &str = r"Examples:
  loadgen reproduce
      All scenarios, in virtual time.
  loadgen reproduce occ --repeats 100 --json occ.json
      One of them, with more seeds.
  loadgen reproduce sync-musings --http
      Over real HTTP.
  loadgen reproduce sync-musings --set server.max_busy=100
      With another server: which claims still hold?
  loadgen reproduce --scenario mine.toml
      Your own experiment.

Exit codes: 0 every claim came out as expected; 1 some did not; 2 bad usage or scenario; 69 its own server does not answer (--http); 70 accounting mismatch; 74 output cannot be written; 129, 130 and 143 interrupted.";

/// Arguments of `loadgen reproduce`: the scenarios to run, their settings and their outputs.
#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// Names of built-in scenarios [default: all]; `--list` lists them.
    #[arg(value_parser = suggesting(StringValueParser::new(), scenarios), hide_possible_values = true)]
    pub(crate) names: Vec<String>,

    /// List the built-in scenarios.
    #[arg(long)]
    pub(crate) list: bool,

    /// Your own scenario: a TOML file as described in docs/scenarios.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,

    /// Override any value of the scenario, such as `server.max_busy=20`; repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Seeds of every cell (one strategy with one combination of varied values) [default: that of the scenario].
    #[arg(long, value_name = "N", value_parser = command_line::count::<u32>(1, 100_000))]
    pub(crate) repeats: Option<u32>,

    /// First seed [default: that of the scenario].
    #[arg(long, value_name = "N", value_parser = command_line::count::<u64>(0, u64::MAX))]
    pub(crate) seed: Option<u64>,

    /// Run over real HTTP, for scenarios that allow it.
    #[arg(long)]
    pub(crate) http: bool,

    /// Over HTTP: real seconds per second of experiment time [default: that of the scenario].
    #[arg(long, value_name = "F", requires = "http", value_parser = TimeScale::parse)]
    pub(crate) time_scale: Option<TimeScale>,

    /// Flag that is always rejected, with an error that states the reason.
    #[arg(long, hide = true, value_name = "I/N", value_parser = not_in_shards)]
    shard: Option<String>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Reproduction>,

    #[command(flatten)]
    pub(crate) output: ReportArgs,

    #[command(flatten)]
    pub(crate) explain: ExplainArgs,
}

/// Rejects `--shard`, because claims are judged on all runs of a scenario.
fn not_in_shards(_: &str) -> Result<String, String> {
    Err("scenarios cannot be divided into shards: name different scenarios on each machine, such as `loadgen reproduce occ`".to_owned())
}

fn scenarios() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}
