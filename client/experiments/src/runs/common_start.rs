//! Common start of all client shards (processes that share the clients of one run).

use std::time::{Duration, Instant, SystemTime};

use loadgen_http::BarrierError;
use results::StartedBy;
use tokio::runtime::Runtime;
use vocabulary::wire::{Released, RunId, ServerCounts};

use super::stop::{Stop, requested_more_than, unless_stopped};
use crate::error::{ErrorKind, refusal, refusal_because};
use crate::servers::target::Server;
use crate::sharded::{BarrierChoice, Sharded, StartChoice};

/// Time before a scheduled start in which a shard opens its connections and prepares the run.
const READY_IN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
pub struct CommonStart {
    pub run: RunId,
    pub at: Instant,
    pub by: StartedBy,
    /// Scheduled start in milliseconds since 1970. `None` if the shards start at a barrier instead of a scheduled time.
    pub at_unix_ms: Option<u64>,
    /// Instance and epoch that the mockserver with the barrier reported; `None` without a barrier. The epoch is the number of resets of the
    /// server's counts. The counts restarted from 0 with this epoch.
    pub counts: Option<(u64, u64)>,
}

/// Waits until shortly before the common start of all shards. Returns `None` if a stop is requested during the wait.
///
/// # Errors
/// Fails if the scheduled time has already passed, or if the server already has counts for this run. With a barrier, fails if some shards
/// did not arrive in time, or if the barrier rejects this shard.
pub(super) fn wait(
    sharded: &Sharded,
    server: &Server,
    seed: u64,
    runtime: &Runtime,
    stop: &dyn Stop,
) -> anyhow::Result<Option<CommonStart>> {
    match &sharded.start {
        StartChoice::Barrier(barrier) => at_barrier(barrier, sharded, seed, runtime, stop),
        StartChoice::At(time, run) => {
            let now = (Instant::now(), SystemTime::now());
            let Ok(ahead) = time.duration_since(now.1) else {
                let words = format!(
                    "{} (--start-at) had passed before the shard was ready; give a later time",
                    humantime::format_rfc3339_millis(*time)
                );
                return Err(refusal(ErrorKind::Usage, words));
            };
            refuse_taken(*run, server, runtime, stop)?;
            let at = now.0 + ahead;
            let near = tokio::time::Instant::from_std(at.checked_sub(READY_IN).unwrap_or(at));
            let waited = runtime.block_on(async {
                tokio::select! {
                    () = tokio::time::sleep_until(near) => true,
                    () = requested_more_than(0, stop) => false,
                }
            });
            let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let at_unix_ms = u64::try_from(since_1970.as_millis()).ok();
            let common = CommonStart { run: *run, at, by: StartedBy::Time, at_unix_ms, counts: None };
            Ok(waited.then_some(common))
        }
    }
}

fn at_barrier(
    barrier: &BarrierChoice,
    sharded: &Sharded,
    seed: u64,
    runtime: &Runtime,
    stop: &dyn Stop,
) -> anyhow::Result<Option<CommonStart>> {
    let BarrierChoice { server, url, patience, name, plan } = barrier;
    // The barrier releases shards once all shards with the same seed wait at it. Every repeat of a run has a seed of its own, so every
    // repeat has a separate barrier.
    let round = name.map_or_else(|| format!("seed-{seed}"), |name| format!("{name:016x}-{seed}"));
    let released = runtime.block_on(async {
        tokio::select! {
            biased;
            released = server.barrier(&round, plan, sharded.shard, *patience) => Some(released),
            () = requested_more_than(0, stop) => None,
        }
    });
    let released_at = Instant::now();
    let Released { run, start_in_ms, instance, epoch, of: _ } = match released {
        None => return Ok(None),
        Some(Ok(released)) => released,
        Some(Err(error)) => {
            let (kind, words) = match &error {
                BarrierError::NotFilled(_) => (ErrorKind::Unreachable, "did not receive all shards in time"),
                BarrierError::Refused(_) => (ErrorKind::Usage, "refuses this shard"),
                _ => (ErrorKind::Unreachable, "lets nobody go"),
            };
            return Err(refusal_because(kind, format!("the barrier at `{url}` (--barrier) {words}"), error));
        }
    };
    let Ok(run) = RunId::from_str_radix(&run, 16) else {
        let words = format!("the barrier at `{url}` (--barrier) returned an invalid run: `{run}`");
        return Err(refusal(ErrorKind::Unreachable, words));
    };
    let at = released_at + Duration::from_millis(start_in_ms.min(60_000));
    let counts = Some((instance, epoch));
    Ok(Some(CommonStart { run, at, by: StartedBy::Barrier, at_unix_ms: None, counts }))
}

/// Rejects a run id for which the server already has counts. If the clocks of all shards agree, no shard of this run has begun yet. The
/// counted requests then belong to another run, and would be mistaken for requests of this run. With a barrier this check is not needed,
/// because the barrier gives each run a new id.
fn refuse_taken(run: RunId, server: &Server, runtime: &Runtime, stop: &dyn Stop) -> anyhow::Result<()> {
    let Some(mock) = &server.mock else { return Ok(()) };
    // If this query for the server's counts fails, the run is started anyway. The counts are queried again at the end of the run, and a
    // failure is reported then.
    let Some(Ok(stats)) = unless_stopped(stop, runtime, mock.stats(run)) else { return Ok(()) };
    let ServerCounts { received, reads, .. } = stats.counts;
    let before = received.saturating_add(reads);
    if before == 0 {
        return Ok(());
    }
    let words = format!(
        "the {} has already counted {before} requests for run `{run:016x}` (--run-id), either of an earlier run (give all shards a \
         new id) or of other shards whose clocks are ahead of this one",
        server.describe()
    );
    Err(refusal(ErrorKind::Usage, words))
}
