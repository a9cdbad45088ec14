//! What is done: ops, how they arrive, and whose they are.

use std::time::Duration;

use clap::{Args, ValueEnum};
use mockserver::count;
use vocabulary::{TimeScale, duration_text};

use super::values::Rate;

/// Heads the flags of [`WorkloadArgs`].
pub(crate) const WORKLOAD: &str = "Workload";
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

fn positive(text: &str) -> Result<Duration, String> {
    match duration_text::parse(text) {
        Ok(Duration::ZERO) => Err("it must be longer than zero".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}
