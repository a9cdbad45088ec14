//! Flags of a client shard, which is a process that runs only some of the clients of each run.

use std::time::{Duration, SystemTime};

use clap::Args;
use experiments::runs::start_time;
use experiments::servers::reach_barrier;
use experiments::{Experiment, Sharded, StartChoice};
use loadgen_core::ClientShard;
use tokio::runtime::Runtime;
use vocabulary::duration_text;
use vocabulary::wire::RunId;

use super::checks::CheckArgs;
use crate::exit::{Exit, Fatal};
use crate::files::exports::RequestedExport;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Shards")]
pub(crate) struct ClientShardArgs {
    /// Run every Nth client only, starting at client I (from 0), such as `0/4`, against a server that all shards share. `--ops`, `--rate`
    /// and `--clients` are the totals of all shards. `loadgen merge` adds up the documents that shards write with `--json`.
    #[arg(long, value_name = "I/N", conflicts_with = "shard")]
    client_shard: Option<ClientShard>,

    /// URL of the mockserver at which every shard waits until all have arrived. For every repeat, the mockserver resets its counts and
    /// then releases all shards at once.
    #[arg(long, value_name = "URL", requires = "client_shard", conflicts_with = "start_at")]
    barrier: Option<String>,

    /// Maximum time that a client shard waits at the barrier for the other shards.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = patience, requires = "barrier")]
    barrier_timeout: Duration,

    /// Start at this time (RFC 3339 or seconds since 1970, by the clock of this machine) instead of at a barrier. A late start is reported.
    #[arg(long, value_name = "WHEN", value_parser = start_time::read, requires = "client_shard", requires = "run_id")]
    start_at: Option<SystemTime>,

    /// Id that all shards of a run share, up to 16 hexadecimal digits; with `--barrier` only needed if shards of several runs wait at the
    /// same mockserver.
    #[arg(long, value_name = "ID", value_parser = run_id, requires = "client_shard")]
    run_id: Option<RunId>,
}

fn patience(text: &str) -> Result<Duration, String> {
    let patience = duration_text::parse(text).map_err(|error| error.to_string())?;
    if patience > Duration::from_hours(1) {
        return Err("a shard waits at most an hour at a barrier".to_owned());
    }
    Ok(patience)
}

fn run_id(text: &str) -> Result<RunId, String> {
    let is_plain = !text.starts_with('+');
    let id = RunId::from_str_radix(text, 16).ok().filter(|_| is_plain);
    id.ok_or_else(|| "it must be up to 16 hexadecimal digits, such as `a1`".to_owned())
}

impl ClientShardArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.client_shard.is_some()
    }

    pub(crate) fn refuse_contradictions(
        &self,
        simulate: bool,
        checks: &CheckArgs,
        asked: &[RequestedExport],
    ) -> anyhow::Result<()> {
        if self.client_shard.is_none() {
            return Ok(());
        }
        let usage = |words: &str| Err(Fatal::error(Exit::Usage, words));
        if simulate {
            return usage(
                "`--client-shard` needs HTTP, because one program simulates the server's queue; \
                 leave it out",
            );
        }
        if !checks.fail_if.is_empty() || checks.baseline.is_some() || checks.save_baseline.is_some() {
            return usage(
                "`--fail-if` and baselines check a whole run, and `--client-shard` runs only a part; give them to `loadgen merge`",
            );
        }
        if asked.iter().any(|(format, _)| format.flag == "--html") {
            return usage(
                "`--html` reports a whole run, and `--client-shard` runs only a part; give `--html` to `loadgen merge`",
            );
        }
        if self.barrier.is_none() && self.start_at.is_none() {
            return usage(
                "`--client-shard` needs a common start of all shards: `--barrier URL` with a mockserver, or `--start-at TIME` with \
                 `--run-id ID`",
            );
        }
        Ok(())
    }

    /// Returns the client shard with its kind of start, or `None` without `--client-shard`. Connects to the barrier first, if `--barrier`
    /// was given.
    pub(crate) fn sharded(
        &self,
        settings: &Experiment,
        runtime: &Runtime,
    ) -> anyhow::Result<Option<Sharded>> {
        let Some(shard) = self.client_shard else { return Ok(None) };
        let start = match (&self.barrier, self.start_at.zip(self.run_id)) {
            (Some(url), _) => {
                let barrier = reach_barrier(url, self.barrier_timeout, self.run_id, settings, runtime)?;
                StartChoice::Barrier(Box::new(barrier))
            }
            (None, Some((time, run))) if time <= SystemTime::now() => {
                let words =
                    format!("the time of `--start-at` has passed (run {run:x}); give a time in the future");
                return Err(Fatal::error(Exit::Usage, words));
            }
            (None, Some((time, run))) => StartChoice::At(time, run),
            (None, None) => return Ok(None),
        };
        Ok(Some(Sharded { shard, start }))
    }
}
