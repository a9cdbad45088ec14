//! What can be typed.

mod checks;
mod compare;
mod parity;
mod report;
mod reproduce;
mod screen;
mod several;
mod shell;
mod sweep;
mod values;

use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use clap::builder::StringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mockserver::count;
use tailback::StrategySpec;
use vocabulary::{TimeScale, duration_text};

pub(crate) use checks::{BASELINES, BaselineName, CheckArgs, Condition};
pub(crate) use compare::{CompareArgs, Score};
pub(crate) use parity::ParityArgs;
pub(crate) use report::{PageArgs, PlotArgs};
pub(crate) use reproduce::{ReportArgs, ReproduceArgs};
pub(crate) use screen::ScreenArgs;
pub(crate) use several::SeveralArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
use shell::{strategies, suggesting};
pub(crate) use sweep::SweepArgs;
pub(crate) use values::{Header, Method, Rate};

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

/// Everything about one run, or several with `--repeats`.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Strategy: `name`, `name:key=value,…`, parts combined with `+`; `loadgen strategies` lists them.
    #[arg(short, long, default_value = "aimd", value_name = "S",
          value_parser = suggesting(StrategySpec::from_str, strategies), hide_possible_values = true)]
    pub(crate) strategy: StrategySpec,

    /// Run in virtual time instead of over HTTP: the same client and server on one clock that nobody waits for.
    #[arg(long, conflicts_with_all = OF_REAL_REQUESTS)]
    pub(crate) simulate: bool,

    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) server: mockserver::ServerFlags,

    #[command(flatten)]
    pub(crate) checks: CheckArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments that mean nothing in virtual time.
pub(crate) const OF_REAL_REQUESTS: [&str; 8] =
    ["target", "method", "headers", "body", "idempotent", "insecure", "cacert", "admin_token"];

/// Heads the flags of [`WorkloadArgs`].
pub(crate) const WORKLOAD: &str = "Workload";
/// Begins what heads the flags of a mock server.
pub(crate) const MOCK_SERVER: &str = "Mock server";

#[derive(Args, Debug)]
#[command(next_help_heading = WORKLOAD)]
pub(crate) struct WorkloadArgs {
    /// Operations to do [default: 2000, without --duration].
    #[arg(long, value_name = "N", value_parser = count::<u64>(1, 4_000_000_000))]
    pub(crate) ops: Option<u64>,

    /// How long ops go on arriving; with --ops, whichever ends first.
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) duration: Option<Duration>,

    /// How long to go on after --duration to finish what has arrived [default: 60s with --duration].
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    pub(crate) drain: Option<Duration>,

    /// Open loop: ops that arrive per second, minute or hour, such as `1000/s` [default: 1000/s; none for a --target
    /// that is no mockserver].
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<Rate>,

    /// Open loop: how ops arrive.
    #[arg(long, value_enum, default_value_t = ArrivalsArg::Poisson)]
    pub(crate) arrivals: ArrivalsArg,

    /// Closed loop: at most N unfinished ops; an op arrives when a place frees. Hides waiting.
    #[arg(long, value_name = "N", conflicts_with_all = ["rate", "arrivals"],
          value_parser = count::<u32>(1, 1_000_000))]
    pub(crate) in_flight: Option<u32>,

    /// Independent clients; op i belongs to client i mod K.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = count::<u32>(1, 1_000_000))]
    pub(crate) clients: u32,

    /// One strategy instance for all clients instead of one each.
    #[arg(long)]
    pub(crate) share_strategy: bool,

    /// An attempt without an answer after this long has failed.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive)]
    pub(crate) timeout: Duration,

    /// An op that cannot start its next attempt within this long of its arrival gives up.
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) deadline: Option<Duration>,

    /// Leave ops that arrive, and attempts that are sent, within this long of the start out of latencies; they still count.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = duration_text::parse)]
    pub(crate) warm_up: Duration,

    /// Attempts after which an op is given up.
    #[arg(long, value_name = "N", value_parser = count::<u32>(1, u32::MAX.into()))]
    pub(crate) max_attempts: Option<u32>,

    /// Whether ops try again after failures (timeouts, resets, 5xx); after rejections they always may.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) retry_failed: bool,

    /// What one attempt does: a request, or a read and then at once a write that counts only if nobody wrote in between.
    #[arg(long, value_enum, default_value_t = KindArg::Request)]
    pub(crate) kind: KindArg,

    /// Seed of everything random; repeat r uses seed + r.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = mockserver::count::<u64>(0, u64::MAX))]
    pub(crate) seed: u64,

    /// Runs to do: one after the other, or with --simulate on all cores.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u32>(1, 1_000_000))]
    pub(crate) repeats: u32,

    /// Real seconds per second of the experiment: 0.2 makes 25 s take 5 s. Figures stay in experiment time.
    #[arg(long, value_name = "F", default_value = "1", value_parser = TimeScale::parse)]
    pub(crate) time_scale: TimeScale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// Independent arrivals at the rate.
    Poisson,
    /// Evenly spaced at the rate.
    Uniform,
    /// All at once.
    Burst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// One request.
    Request,
    /// GET, then at once PUT with `If-Match`; 412 is a rejection.
    ReadModifyWrite,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Where to send attempts [default: a mockserver on 127.0.0.1:8503, else an embedded one].
    #[arg(short, long, value_name = "URL")]
    pub(crate) target: Option<String>,

    /// Method of every attempt.
    #[arg(short, long, value_name = "METHOD", default_value = "GET")]
    pub(crate) method: Method,

    /// Header of every attempt, `Name: value`; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<Header>,

    /// Body of every attempt; `@FILE` reads it from a file.
    #[arg(short = 'd', long, value_name = "BODY")]
    pub(crate) body: Option<String>,

    /// Retry failures of POST and PATCH against a server that is no mockserver, too.
    #[arg(long)]
    pub(crate) idempotent: bool,

    /// Accept any TLS certificate.
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,

    /// Trust the certificates in this PEM file instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,

    /// The token of a mockserver that was started with `--admin-remote`; `@FILE` reads it from a file [default: that in
    /// the environment, `TAILBACK_ADMIN_TOKEN`, if the target is on this machine or its certificate is checked]. Sent to
    /// a target that says it is a mockserver and wants a token.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) admin_token: Option<String>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the result as JSON to a file, or to stdout with `-` (the summary then goes to stderr).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write a report with pictures to an HTML file that needs no network.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) figures: FiguresArgs,

    /// Write every attempt to a file, one JSON object a line, while runs go on.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) screen: ScreenArgs,

    /// No progress and no summary; errors are still told.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Threads for simulated repeats [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = count::<u16>(1, 1024))]
    pub(crate) threads: Option<u16>,

    /// Print everything a run would use, defaults included, and do not run.
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// Files with the figures of every run, for other programs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct FiguresArgs {
    /// Write every figure of every run to a CSV file, one row a run, or to stdout with `-`.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Write op latencies to a V2 interval log of HDR histograms, one interval a run, its strategy as the tag.
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr: Option<PathBuf>,
}

fn positive(text: &str) -> Result<Duration, String> {
    match duration_text::parse(text) {
        Ok(Duration::ZERO) => Err("it must be longer than zero".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
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
