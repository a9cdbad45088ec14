//! What `loadgen sweep` can be told.

use std::ffi::OsString;
use std::str::FromStr as _;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};

use super::axis::Axis;
use crate::args::StrategyList;
use crate::args::exports::{ExportArgs, Sweep};
use crate::args::shell::{strategies, suggesting};
use crate::args::{SeveralArgs, blocks};

pub(crate) const EXAMPLES: &str = "\
Examples:
  loadgen sweep --simulate --strategies exponential:jitter=0.5,aimd --vary ops=50,100,500,2000,5000 --html ops.html
      how attempts grow with ops
  loadgen sweep --simulate --strategies aimd --vary aimd.beta=0.5..0.95/10 --repeats 30
      which parameter is best; the winner is estimated again on fresh seeds
  loadgen sweep --simulate --strategies aimd,full-jitter --vary max-busy=10..100/10 --vary clients=1,10,100 --csv sweep.csv
      two axes: every point of a grid
  loadgen sweep --strategies aimd,oracle --vary rate=200,1000 --time-scale 0.2
      over HTTP, one run after the other
  loadgen sweep --strategies aimd,full-jitter --target http://127.0.0.1:8503 --vary ops=100,1000
      against a mockserver that was started apart, or any other server (then with `--rate` or `--in-flight`)

Every strategy runs with every seed at every point. `--vary` takes any flag of the workload or the server that has a value, or a
parameter of a strategy (`aimd.beta`; nothing of the server with `--target`): a list, a range LOW..HIGH/COUNT, or LOW..HIGH/COUNTlog by equal factors.
Exit codes: 0 done, 1 no op of a run succeeded, ops failed for good, or of every strategy more than 10 %
ended with a failure that was not configured, 2 bad usage, 69 target unreachable,
70 counts do not add up, 74 output cannot be written, 129, 130 and 143 interrupted.";

/// What is varied, for which strategies, how often.
#[derive(Args, Debug)]
#[command(mut_arg("repeats", blocks))]
pub(crate) struct SweepArgs {
    /// What is varied, KEY=VALUES such as `ops=50,500,5000` or `aimd.beta=0.5..0.95/10`; twice at most.
    #[arg(long, required = true, value_name = "KEY=VALUES")]
    pub(crate) vary: Vec<Axis>,

    /// Strategies, each with its parameters; may be given several times.
    ///
    /// A comma begins another strategy unless `key=` follows: `exponential:jitter=0.5,base=50ms,aimd` are two.
    #[arg(short, long, default_value = "aimd", value_name = "S,S,…", hide_possible_values = true,
          value_parser = suggesting(StrategyList::from_str, strategies))]
    pub(crate) strategies: Vec<StrategyList>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Sweep>,

    #[command(flatten)]
    pub(crate) several: SeveralArgs,
}

impl SweepArgs {
    /// The flags.
    pub(super) fn flags() -> Command {
        Self::augment_args(Command::new("sweep"))
    }

    /// What stands on a command line after the name of the program.
    pub(super) fn matches(typed: &[OsString]) -> Result<ArgMatches, clap::Error> {
        Self::flags().try_get_matches_from(typed.iter().skip(1))
    }

    /// What holds where nothing is typed but what is varied, which whoever varies something else does not take from here.
    pub(super) fn defaults() -> Self {
        Self::read(&["loadgen", "sweep", "--vary", "ops=1"].map(OsString::from))
            .expect("nothing else must be typed")
    }

    /// The same, read.
    pub(super) fn read(typed: &[OsString]) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::matches(typed)?)
    }
}
