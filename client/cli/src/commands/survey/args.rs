//! Flags of `loadgen survey`.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::Args;
use mockserver::count;

use crate::args::shell::{strategies, suggesting};
use crate::args::{ReportArgs, StrategyList};

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen survey --strategies aimd,tailback,full-jitter
  loadgen survey --strategies aimd,aimd:beta=0.7 --concurrency-limits 1000 \
      --rate-limits 0
  loadgen survey --seed 7 --settings 3,57 --explain
      Runs two settings of a survey again.
  loadgen survey --from survey.json --plot survey.svg
      Prints and draws a saved survey.

Every setting is a server and a workload drawn at random; docs/tailback.md lists the distributions. Ratios to --reference are paired by setting and seed, in virtual time; means are geometric. An unfinished run counts as five times its time, divided by its share of ops done.

Exit codes: 0 done; 2 bad usage; 70 accounting mismatch; 74 output cannot be written; 129, 130 and 143 interrupted.";

/// Default strategies of a survey, which are those of the table in `docs/tailback.md`.
const STRATEGIES: &str =
    "aimd,aimd:beta=0.8,cubic,bbr,full-jitter,aws-adaptive,envoy-gradient,preset:vector,tailback";

/// Arguments of `loadgen survey`: strategies, random settings, and outputs.
#[derive(Args, Debug)]
pub(crate) struct SurveyArgs {
    /// Strategies, each with its parameters; repeatable.
    #[arg(short, long, default_value = STRATEGIES, value_name = "S,S,…", hide_possible_values = true,
          value_parser = suggesting(StrategyList::from_str, strategies))]
    pub(super) strategies: Vec<StrategyList>,

    /// Strategy to which all others are compared, as ratios; one of --strategies.
    #[arg(long, value_name = "STRATEGY", default_value = "aimd")]
    pub(super) reference: String,

    /// Number of random settings with a concurrency limit.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = count::<u32>(0, 100_000))]
    pub(super) concurrency_limits: u32,

    /// Number of random settings with a rate limit.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = count::<u32>(0, 100_000))]
    pub(super) rate_limits: u32,

    /// Seed with which settings are drawn.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u64>(0, u64::MAX))]
    pub(super) seed: u64,

    /// Seeds with which every strategy runs in every setting.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count::<u32>(1, 1_000))]
    pub(super) repeats: u32,

    /// Run only the settings with these numbers.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub(super) settings: Vec<u64>,

    /// Read a survey that `--json` wrote instead of running one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategies", "concurrency_limits", "rate_limits", "seed",
          "repeats", "settings"])]
    pub(super) from: Option<PathBuf>,

    /// Also print groups of settings, the worst setting of each strategy, and how to read the table.
    #[arg(long)]
    pub(super) explain: bool,

    /// Write settings, runs and ratios as JSON to a file, or to stdout with `-`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) json: Option<PathBuf>,

    /// Write a row for every run as CSV to a file, or to stdout with `-`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) csv: Option<PathBuf>,

    /// Draw the ratio of time against the ratio of attempts as SVG, one dot for every setting.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) plot: Option<PathBuf>,

    #[command(flatten)]
    pub(super) output: ReportArgs,
}
