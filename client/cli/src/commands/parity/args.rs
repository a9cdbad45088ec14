//! What `loadgen parity` can be told.

use clap::Args;
use clap::builder::StringValueParser;
use vocabulary::TimeScale;

use crate::args::ReportArgs;
use crate::args::exports::{ExportArgs, Parity};
use crate::args::shell::{scenarios, suggesting};

pub(crate) const EXAMPLES: &str = "\
Examples:
  loadgen parity
      five strategies at the first seed's scale, and a setting drawn at random
  loadgen parity --draw 42 --time-scale 1
      the setting that was drawn as number 42, in real time
  loadgen parity exploring-backoff
      what a scenario offers over HTTP

A real run must look like one more seed: every figure within 4 standard deviations of the simulated seeds, plus 4 % for
timers and threads (of the mean; 2 ms at least for latencies). When the first real run does not, the median of three decides:
a stall of a busy machine is not there again.
Exit codes: 0 the drivers agree, 1 they do not, 2 bad usage, 69 its own server does not answer, 70 counts do not
add up, 74 output cannot be written, 129, 130 and 143 interrupted.";

/// What is run through both drivers.
#[derive(Args, Debug)]
pub(crate) struct ParityArgs {
    /// A scenario [default: five strategies at the first seed's scale, and a setting drawn at random].
    #[arg(value_parser = suggesting(StringValueParser::new(), scenarios), hide_possible_values = true)]
    pub(crate) scenario: Option<String>,

    /// Seed of the real runs, and the first of the simulated ones.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = mockserver::count::<u64>(0, u64::MAX))]
    pub(crate) seed: u64,

    /// Number of the random setting, to draw it again [default: another one each time].
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    pub(crate) draw: Option<u64>,

    /// Simulated seeds that a real run is compared with.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = mockserver::count::<u32>(5, 10_000))]
    pub(crate) repeats: u32,

    /// Real seconds per second of the experiment [default: 0.2, or as the scenario says, and more where the machine is too
    /// slow for that].
    #[arg(long, value_name = "F", value_parser = TimeScale::parse)]
    pub(crate) time_scale: Option<TimeScale>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Parity>,

    #[command(flatten)]
    pub(crate) output: ReportArgs,
}
