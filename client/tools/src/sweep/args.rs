//! Flags of `loadgen sweep`.

use std::ffi::OsString;
use std::str::FromStr as _;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use results::Axis;
use shell::args::blocks;
use shell::args::exports::{ExportArgs, Sweep};
use shell::args::shell::{strategies, suggesting};
use shell::{MultiArgs, StrategyList};

use crate::sweep::axis::axis;

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen sweep --simulate --strategies exponential:jitter=0.5,aimd \
      --vary ops=50,100,500,2000,5000 --html ops.html
      Which strategy is best at how many ops?
  loadgen sweep --simulate --strategies aimd --vary aimd.beta=0.5..0.95/10
      The best value of a parameter, estimated again with fresh seeds.
  loadgen sweep --simulate --strategies aimd,full-jitter --csv grid.csv \
      --vary max-busy=10..100/10 --vary clients=1,10,100
      Two keys: every point of a grid.
  loadgen sweep --strategies aimd,oracle --vary rate=200,1000 --time-scale 0.2
      Over HTTP, one run after the other.
  loadgen sweep --strategies aimd,full-jitter --vary ops=100,1000 \
      --target http://127.0.0.1:8503
      A running mockserver, or with --rate or --in-flight any other server.

Every strategy runs with every seed at every point. `--vary` takes any flag of the workload or the server that has a value, or a parameter of a strategy (`aimd.beta`); with `--target`, no flag of the server. Values are a list, a range LOW..HIGH/COUNT, or LOW..HIGH/COUNTlog for equal factors.

Exit codes: 0 done; 1 in a run no op succeeded or ops failed for good (3xx, 4xx), or for every strategy more than 10 % of the ops of all its runs ended with a failure that was not configured (timeout, transport, 5xx, dead target); 2 bad usage; 69 target unreachable; 70 accounting mismatch; 74 output cannot be written; 129, 130 and 143 interrupted.";

/// Strategies and keys to vary, and their workload, server and outputs.
#[derive(Args, Debug)]
#[command(mut_arg("repeats", blocks))]
pub(crate) struct SweepArgs {
    /// Key to vary and its values, such as `ops=50,500,5000` or `aimd.beta=0.5..0.95/10`; at most twice.
    #[arg(long, required = true, value_name = "KEY=VALUES", value_parser = axis)]
    pub(crate) vary: Vec<Axis>,

    /// Strategies, each with its parameters; repeatable [default: aimd; none for a foreign server].
    ///
    /// A comma starts another strategy unless `key=` follows, so `exponential:jitter=0.5,base=50ms,aimd` lists two strategies.
    #[arg(short, long, value_name = "S,S,…", hide_possible_values = true,
          value_parser = suggesting(StrategyList::from_str, strategies))]
    pub(crate) strategies: Vec<StrategyList>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Sweep>,

    #[command(flatten)]
    pub(crate) several: MultiArgs,
}

impl SweepArgs {
    pub(super) fn flags() -> Command {
        Self::augment_args(Command::new("sweep"))
    }

    pub(super) fn matches(typed: &[OsString]) -> Result<ArgMatches, clap::Error> {
        Self::flags().try_get_matches_from(typed.iter().skip(1))
    }

    /// Returns the default flags of `loadgen sweep`. The value of `--vary` is a placeholder, because this flag is required.
    pub(super) fn defaults() -> Self {
        Self::read(&["loadgen", "sweep", "--vary", "ops=1"].map(OsString::from))
            .expect("no further argument is required")
    }

    pub(super) fn read(typed: &[OsString]) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::matches(typed)?)
    }
}
