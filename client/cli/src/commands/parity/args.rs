//! Flags of `loadgen parity`.

use clap::Args;
use clap::builder::StringValueParser;
use vocabulary::TimeScale;

use crate::args::ReportArgs;
use crate::args::exports::{ExportArgs, Parity};
use crate::args::shell::{scenarios, suggesting};

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen parity
      Five strategies with the default workload and server, and a random setting.
  loadgen parity --draw 42 --time-scale 1
      Random setting number 42, in real time.
  loadgen parity exploring-backoff
      The settings of a scenario that can run over HTTP.

A real run must look like one more seed: every figure within 4 standard deviations of the simulated seeds, plus 4 % for timers and threads (of the mean; at least 2 ms for latencies). If the first real run does not, the median of three decides, because a stall of a busy machine does not repeat.

Exit codes: 0 the drivers agree; 1 they do not; 2 bad usage; 69 its own server does not answer; 70 accounting mismatch; 74 output cannot be written; 129, 130 and 143 interrupted.";

/// Arguments of `loadgen parity`: the settings to run in virtual time and over HTTP, and the outputs.
#[derive(Args, Debug)]
pub(crate) struct ParityArgs {
    /// Scenario [default: five strategies with the default workload and server, and a setting drawn at random].
    #[arg(value_parser = suggesting(StringValueParser::new(), scenarios), hide_possible_values = true)]
    pub(crate) scenario: Option<String>,

    /// Seed of the real runs, and the first of the simulated ones.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = mockserver::count::<u64>(0, u64::MAX))]
    pub(crate) seed: u64,

    /// Number of the random setting to run [default: a new one each time].
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    pub(crate) draw: Option<u64>,

    /// Number of simulated seeds with which a real run is compared.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = mockserver::count::<u32>(5, 10_000))]
    pub(crate) repeats: u32,

    /// Real seconds per second of experiment time [default: that of the scenario, else 0.2; more if the machine is too slow].
    #[arg(long, value_name = "F", value_parser = TimeScale::parse)]
    pub(crate) time_scale: Option<TimeScale>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs<Parity>,

    #[command(flatten)]
    pub(crate) output: ReportArgs,
}
