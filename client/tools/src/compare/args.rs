//! Flags of `loadgen compare`.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::{Args, Command, FromArgMatches as _};
use shell::args::blocks;
use shell::args::exports::{Comparison, ExportArgs};
use shell::args::shell::{strategies, suggesting};
use shell::{CheckArgs, MultiArgs, StrategyList};

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen compare --simulate --strategies full-jitter,aimd,oracle
      Three strategies, 10 seeds, in virtual time.
  loadgen compare --strategies aimd,full-jitter --time-scale 0.2 --json all.json
      Over real HTTP: five seeds, a fresh server for every run.
  loadgen compare --strategies aimd,full-jitter --in-flight 5 --ops 200 \
      --target http://127.0.0.1:8080/
      Any HTTP or HTTPS server; --rate or --in-flight is then required.
  loadgen compare --simulate --by attempts --repeats 30 \
      --strategies 'aimd+retry-budget,exponential:jitter=0.5,base=50ms'
      Ranked by attempts. A comma starts another strategy unless `key=` follows.
  loadgen compare --simulate --strategies aimd,fixed-window --sensitivity
      Is the ranking the same with other servers?

Every seed runs each strategy once, with the same arrivals and the same random draws, in random order. Strategies that did all ops are ranked by the geometric mean of the figure over seeds. The others follow, by the share of ops done (in time, with --within or --deadline), then by attempts per success.

Differences are ratios paired by seed, with intervals from 5 seeds on; `--explain` prints every pair. Every run has a fresh server, unless `--target` names one for all.

Exit codes: 0 done; 1 in a run no op succeeded or ops failed for good (3xx, 4xx), or for every strategy more than 10 % of the ops of all its runs ended with a failure that was not configured (timeout, transport, 5xx, dead target); 2 bad usage; 69 target unreachable; 70 accounting mismatch; 74 output cannot be written; 99 a check failed; 129, 130 and 143 interrupted.";

/// Strategies to compare, and their workload, server, checks and outputs.
#[derive(Args, Debug)]
#[command(mut_arg("repeats", blocks))]
pub(crate) struct CompareArgs {
    /// Strategies to compare, at least two, each with its parameters; repeatable.
    ///
    /// A comma starts another strategy unless `key=` follows, so `exponential:jitter=0.5,base=50ms,aimd` lists two strategies.
    #[arg(short, long, required = true, value_name = "S,S,…", hide_possible_values = true,
          value_parser = suggesting(StrategyList::from_str, strategies))]
    pub(crate) strategies: Vec<StrategyList>,

    /// Rank again with a cap 20 % lower and higher, with lognormal service times and with a jittered network.
    #[arg(long)]
    pub(crate) sensitivity: bool,

    #[command(flatten)]
    pub(crate) checks: CheckArgs,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Comparison>,

    /// Write the answer and the table as Markdown, for pull requests, or to stdout with `-`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) markdown: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) several: MultiArgs,
}

impl CompareArgs {
    /// Returns the default flags of `loadgen compare`. The value of `--strategies` is a placeholder, because this flag is required.
    pub(super) fn defaults() -> Self {
        let typed = ["compare", "--strategies", "none,aimd"];
        let least = Self::augment_args(Command::new("compare")).get_matches_from(typed);
        Self::from_arg_matches(&least).expect("no further argument is required")
    }
}
