//! What `loadgen compare` can be told.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::{Args, Command, FromArgMatches as _};

use crate::args::CheckArgs;
use crate::args::StrategyList;
use crate::args::exports::{Comparison, ExportArgs};
use crate::args::shell::{strategies, suggesting};
use crate::args::{SeveralArgs, blocks};

pub(crate) const EXAMPLES: &str = "\
Examples:
  loadgen compare --simulate --strategies exponential:jitter=0.5,base=50ms,full-jitter,aimd,oracle
      four strategies: a comma begins another one unless `key=` follows, which is a parameter
  loadgen compare --simulate --strategies 'aimd+retry-budget:ratio=0.1,aimd' --by attempts --repeats 30
      who needs the fewest attempts
  loadgen compare --strategies aimd,full-jitter --time-scale 0.2 --json compared.json
      over real HTTP, five blocks, a fresh server for every run
  loadgen compare --strategies aimd,full-jitter --target https://api.example.com/v1/items --in-flight 5 --ops 200
      any HTTP or HTTPS server; somebody must say how much load it gets
  loadgen compare --simulate --strategies aimd,aimd:beta=0.5,fixed-window --sensitivity
      does the ranking stand against other servers?

Every block runs each strategy once, with the same arrivals and the same luck per op, in an order drawn from the seed.
Strategies that did the same work are ranked by the geometric mean of the score over blocks. Where some left ops undone, a
larger share of ops done (in time, with --within or --deadline) comes first, then fewer attempts per success. Differences are ratios paired by block: no interval below 5 repeats, Student's t on their logarithms
from 5, bootstrap from 20, corrected for comparing many (Holm). A server of its own serves every run, unless `--target` names one for all.
Exit codes: 0 done, 1 no op of a run succeeded, ops failed for good, or of every strategy more than 10 %
ended with a failure that was not configured, 2 bad usage, 69 target unreachable,
70 counts do not add up, 74 output cannot be written, 99 a check failed, 129, 130 and 143 interrupted.";

/// Which strategies are compared, how often, and in what.
#[derive(Args, Debug)]
#[command(mut_arg("repeats", blocks))]
pub(crate) struct CompareArgs {
    /// Strategies to compare, at least two, each with its parameters; may be given several times.
    ///
    /// A comma begins another strategy unless `key=` follows: `exponential:jitter=0.5,base=50ms,aimd` are two.
    #[arg(short, long, required = true, value_name = "S,S,…", hide_possible_values = true,
          value_parser = suggesting(StrategyList::from_str, strategies))]
    pub(crate) strategies: Vec<StrategyList>,

    /// Rank again with a cap 20 % lower and higher, lognormal service times and a jittered network.
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
    pub(crate) several: SeveralArgs,
}

impl CompareArgs {
    /// What holds where nothing is typed but strategies, which whoever has others does not take from here.
    pub(super) fn defaults() -> Self {
        let typed = ["compare", "--strategies", "none,aimd"];
        let least = Self::augment_args(Command::new("compare")).get_matches_from(typed);
        Self::from_arg_matches(&least).expect("nothing else must be typed")
    }
}
