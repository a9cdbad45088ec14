//! What can be typed.

mod axis;
mod checks;
mod compare;
mod output;
mod parity;
mod report;
mod reproduce;
mod run;
mod score;
mod screen;
mod several;
mod shell;
mod strategy_list;
mod sweep;
mod target;
mod values;
mod workload;

use clap::builder::StringValueParser;
use clap::{Args, Parser, Subcommand};

pub(crate) use axis::{Axis, Key};
pub(crate) use checks::{BASELINES, BaselineName, CheckArgs, Condition};
pub(crate) use compare::CompareArgs;
pub(crate) use output::{FiguresArgs, OutputArgs};
pub(crate) use parity::ParityArgs;
pub(crate) use report::{PageArgs, PlotArgs};
pub(crate) use reproduce::ReproduceArgs;
pub(crate) use run::RunArgs;
pub(crate) use score::Score;
pub(crate) use screen::ScreenArgs;
pub(crate) use several::SeveralArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
use shell::{strategies, suggesting};
pub(crate) use sweep::SweepArgs;
pub(crate) use target::MOCK_SERVER;
pub(crate) use values::Rate;
pub(crate) use workload::{ArrivalsArg, KindArg, WORKLOAD};

const EXAMPLES: &str = "\
Examples:
  loadgen --strategy aimd --ops 2000
      one run; without a target it uses the mockserver on the default port, or starts one itself
  loadgen --strategy exponential:jitter=0.5,base=50ms,cap=30s --ops 2000 --time-scale 0.2
      the same in a fifth of the time; figures stay in experiment time
  loadgen --strategy aimd:beta=0.5+retry-budget:ratio=0.1 --max-busy 20 --json result.json
      parts are combined with `+`; server flags configure the embedded server
  loadgen --strategy full-jitter --target https://api.example.com/v1/items --rate 20/s --duration 1m
      any HTTP or HTTPS server
  loadgen --strategy none --in-flight 50 --ops 100000 --no-tui
      closed loop: 50 ops at once
  loadgen --simulate --strategy aimd --repeats 1000
      the same in virtual time, 1000 seeds in a second or two
  loadgen --simulate --strategy aimd --repeats 20 --fail-if 'amplification > 1.2' --fail-if 'op_latency_ms.p99.max > 30000'
      for CI: exits with 99 when a condition holds

Exit codes: 0 done, 1 no op succeeded or ops failed for good (3xx, 4xx, nobody answers), 2 bad usage,
69 target unreachable, 70 counts do not add up, 74 output cannot be written, 99 a check failed,
129, 130 and 143 interrupted.
Ctrl-C once stops and keeps what was measured, twice does not wait for what is under way, thrice leaves at once.";

/// Finds out what a retry or throttling strategy costs against a throttling server.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What can be done besides one run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the strategies, or explain one: rule, parameters, defaults, source.
    Strategies(StrategiesArgs),
    /// Check the claims of the documents that Tailback comes from, or of your own scenario, one by one.
    #[command(after_help = reproduce::EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Compare strategies: blocks of equal luck, a ranked table, and what the differences are worth.
    #[command(after_help = compare::EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Vary parameters or workload: every strategy at every point, figures against what was varied, the best point.
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(Box<SweepArgs>),
    /// Run the same through both drivers, virtual time and real HTTP, and compare figure by figure.
    #[command(after_help = parity::EXAMPLES)]
    Parity(ParityArgs),
    /// Make one HTML page of result files: the answer, a table, pictures, and everything needed to repeat it.
    #[command(after_help = report::EXAMPLES)]
    Report(PageArgs),
    /// Draw one figure of result files, as text or as SVG.
    Plot(PlotArgs),
    /// Print the JSON schema of results.
    Schema,
    /// Print a script that lets a shell complete the command line.
    Completions(CompletionsArgs),
    /// Print the man page, or write one per subcommand.
    Man(ManArgs),
}

#[derive(Args, Debug)]
pub(crate) struct StrategiesArgs {
    /// The strategy to explain.
    #[arg(value_parser = suggesting(StringValueParser::new(), strategies), hide_possible_values = true)]
    pub(crate) name: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
