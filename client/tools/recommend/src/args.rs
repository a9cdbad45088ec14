//! Flags of `loadgen recommend`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches as _};
use experiments::checks::Share;
use shell::args::shell::{strategies, suggesting};
use shell::args::{Method, ReportArgs, WorkloadArgs};
use tailback::StrategySpec;

/// Flags that `loadgen recommend -h` lists.
pub const COMMON_FLAGS: [&str; 7] = ["strategy", "unsure", "change", "max-rejected", "json", "html", "quiet"];

pub const EXAMPLES: &str = r"Examples:
  loadgen recommend --strategy preset:openai --in-flight 20 --ops 1500 \
      --preset openai:tokens=off --service-time 'lognormal(2s,0.5)' \
      --unsure service-time=700ms..6s --unsure requests.rate=350/m..500/m
      One setting for a library, an API and a load that are known roughly.
  loadgen recommend --strategy preset:urllib3-usual --rate 5/s \
      --duration 3m --within 5s --max-busy 50 --fault 503:1%
      Ops that arrive at a rate and must be done within 5 s.
  loadgen recommend --strategy full-jitter --in-flight 40 --change workers \
      --unsure none
      May only change the number of workers; the server is known exactly.

Today's setting is --strategy, with --in-flight workers or ops arriving at --rate. The command tries other values of the library's settings, fewer workers and a rate limit in the client's own code, on the nominal server and on every other plausible one, and names one setting, or says that today's is as good. Nothing is sent to any real server. docs/recommend.md explains the rules.

Exit codes: 0 answered; 1 no setting gets an op done on the nominal server or in time on any fresh one, or none keeps --max-rejected; 2 bad usage; 70 accounting mismatch; 74 output cannot be written; 129, 130 and 143 interrupted.";

/// Today's setting, workload and server, and the figures that are uncertain.
#[derive(Args, Clone, Debug)]
#[command(mut_args(hide_unused))]
pub struct RecommendArgs {
    /// Strategy that your client uses today, such as `preset:openai`.
    #[arg(short, long, required = true, value_name = "S", hide_possible_values = true,
          value_parser = suggesting(StrategySpec::from_str, strategies))]
    pub(crate) strategy: StrategySpec,

    /// Figure of the server that is not known exactly, as KEY=LOW..HIGH or KEY=VALUE,VALUE; repeatable.
    ///
    /// KEY is a flag of the server, or STAGE.PARAMETER of its preset, such as `requests.rate=350/m..500/m`. A range of times for a flag that
    /// takes a distribution changes its mean. `none`: the nominal server alone [default: service-time from half to double, and the figures
    /// that the preset marks as uncertain; without a preset also max-busy from half to double].
    #[arg(short, long, value_name = "KEY=VALUES")]
    pub(crate) unsure: Vec<String>,

    /// Parts of the client that the recommendation may change.
    #[arg(
        long,
        value_name = "PART,…",
        value_enum,
        value_delimiter = ',',
        default_value = "library,workers,rate"
    )]
    pub(crate) change: Vec<ChangedPart>,

    /// Exclude settings with a larger share of rejected attempts on any server, such as 1%, for APIs that ban clients.
    #[arg(long, value_name = "SHARE")]
    pub(crate) max_rejected: Option<Share>,

    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,

    /// HTTP method of every request, if `--mix` is not given; retry rules may depend on it.
    #[arg(short, long, value_name = "METHOD", default_value = "GET", conflicts_with = "mix", help_heading = shell::args::WORKLOAD)]
    pub(crate) method: Method,

    #[command(flatten)]
    pub(crate) server: mockserver::ServerFlags,

    /// Refused with an explanation: nothing is measured on a real server.
    #[arg(short, long, value_name = "URL", hide = true, help_heading = shell::args::TARGET)]
    pub(crate) target: Option<String>,

    /// Accepted without effect, because `loadgen recommend` simulates every run.
    #[arg(long, hide = true, help_heading = shell::args::TARGET)]
    pub(crate) simulate: bool,

    /// Write the answer and all figures as JSON to a file, or to stdout with `-`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,

    /// Write the answer with a picture as an HTML page.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: ReportArgs,
}

/// Part of the client that a recommendation may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ChangedPart {
    /// Settings of the client library, such as its number of retries.
    Library,
    /// Number of workers of the client (`--in-flight`).
    Workers,
    /// Rate of attempts, limited in the client's own code.
    Rate,
}

/// Workload flags that `loadgen recommend` hides (number of runs, their speed, wanted statuses), because the command chooses
/// its runs itself and simulates them.
pub(super) const UNUSED: [&str; 3] = ["repeats", "time_scale", "success"];

fn hide_unused(arg: Arg) -> Arg {
    if UNUSED.contains(&arg.get_id().as_str()) { arg.hide(true) } else { arg }
}

impl RecommendArgs {
    pub(super) fn flags() -> Command {
        Self::augment_args(Command::new("recommend"))
    }

    pub(super) fn matches(typed: &[OsString]) -> Result<ArgMatches, clap::Error> {
        Self::flags().try_get_matches_from(typed.iter().skip(1))
    }

    pub(super) fn read(typed: &[OsString]) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::matches(typed)?)
    }

    pub(super) fn may(&self, part: ChangedPart) -> bool {
        self.change.contains(&part)
    }
}
