//! Replay of the client's part of a run: the client's logged inputs pass through the event loop of the simulation.

use loadgen_core::{AttemptKey, Input, Run, RunLog, SentAttempt};
use loadgen_sim::{EventLoop, Peer, Steer};
use vocabulary::Instant;

use super::Difference;

/// Replays the client's logged inputs with `run`, which must be in the same state as the logged run before its start. Returns `run` if it
/// made the same decisions as the logged run.
///
/// Every attempt must be sent at the same instant and end in the same way, with the same window after its end. Every refused launch and
/// every given-up op must have the same instant and the same reason.
///
/// # Errors
/// Returns the first decision that differs from the log.
pub(crate) fn replay_client(log: &RunLog, mut run: Run) -> Result<Run, Difference> {
    run.record_log();
    let (mut run, unread, _) = EventLoop::new(run, LoggedInputs(&log.inputs)).run(&mut |_, _| Steer::On);
    // The client's log may have inputs after the end of the run. They are ends of withdrawn attempts, which arrive until the driver notices
    // that the run is over.
    for (at, input) in unread.0 {
        run.handle_input(*at, *input);
    }
    let replayed = run.take_log().unwrap_or_default();
    Difference::first("output", &log.outputs, &replayed.outputs)?;
    Difference::first("attempt's end", &log.samples, &replayed.samples)?;
    Difference::first("launch or op given up", &log.refusals, &replayed.refusals)?;
    Difference::first("input", &log.inputs, &replayed.inputs)?;
    Ok(run)
}

struct LoggedInputs<'a>(&'a [(Instant, Input)]);

impl Peer for LoggedInputs<'_> {
    fn on_send(&mut self, _now: Instant, _launched: &SentAttempt) {}

    fn on_cancel(&mut self, _now: Instant, _key: AttemptKey) {}

    fn next_at(&self) -> Instant {
        self.0.first().map_or(Instant::FAR_FUTURE, |(at, _)| *at)
    }

    fn go_on(&mut self, now: Instant, until: Instant, run: &mut Run) -> Option<Instant> {
        let at = self.next_at().max(now);
        if at > until {
            return None;
        }
        while let Some(((_, input), later)) = self.0.split_first().filter(|((due, _), _)| *due <= at) {
            self.0 = later;
            run.handle_input(at, *input);
        }
        Some(at)
    }
}
