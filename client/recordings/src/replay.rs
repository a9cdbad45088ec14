//! Replay of a script with a strategy in virtual time. It yields the number and times of the attempts, op by op.

use std::time::Duration;

use loadgen_core::{ArrivalProcess, Cause, OperationKind, Refusal, Run, RunConfig, RunLog, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::{Config, Script};
use tailback::{SpecError, Status, StrategySpec};
use vocabulary::{Distribution, Instant};

use crate::ending::Ending;

/// Maximum mean number of attempts per op. A strategy that exceeds it is assumed to retry forever.
const ENDLESS: u64 = 300;

/// Time without success after which a simulated run would count as stalled. The script of a recording may never let an op succeed. The time
/// is therefore longer than any run, so that no run ends as stalled.
const PATIENCE: Duration = Duration::from_secs(1 << 33);

#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    pub strategy: &'a StrategySpec,
    pub script: &'a Script,
    pub clients: Clients,
    pub ops: usize,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Clients {
    /// One client per op. All clients start at the beginning of a calendar second.
    Fresh,
    /// One client per op. The starts of the clients are spread evenly over one second.
    Scattered,
    /// One client for all ops. It does one op after another, with the given pause between them.
    One { pause: Duration },
}

impl Clients {
    /// Shortest possible pause between two consecutive ops of a client.
    pub const AT_ONCE: Duration = Duration::from_nanos(1);
    pub const ONE: Self = Self::One { pause: Self::AT_ONCE };
}

/// Result of one simulated op. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Op {
    pub attempts: u32,
    /// Time from the op's arrival to its first attempt.
    pub before_first: f64,
    /// Times from the end of each attempt to the start of the next one.
    pub delays: Vec<f64>,
    /// Time from the end of the last attempt to the end of the op.
    pub after_last: f64,
    pub ending: Ending,
}

/// Log of a simulated run, or of its beginning.
#[derive(Debug)]
pub struct TrialLog {
    pub log: RunLog,
    /// Whether the run was ended because of too many attempts, or because it stalled.
    pub is_endless: bool,
}

impl Trial<'_> {
    /// Runs the trial. Returns its ops, or `None` if they do not end.
    pub(crate) fn run(self) -> Result<Option<Vec<Op>>, SpecError> {
        let ops = self.ops;
        let TrialLog { log, is_endless } = self.log(ENDLESS)?;
        Ok((!is_endless).then(|| ops_of(&log, ops)))
    }

    /// Runs the trial and returns its log. The run is ended soon after its ops have made more than `max_attempts` attempts on average.
    pub fn log(self, max_attempts: u64) -> Result<TrialLog, SpecError> {
        let ops = self.ops as u64;
        let mut run = Run::new(self.config(), |_| self.strategy.build(self.seed, None), None)?;
        run.record_log();
        let policy = format!("script:steps={}", self.script).parse();
        let server = Config {
            policy: policy.expect("the text of a script can always be parsed again"),
            network_delay: Distribution::ZERO,
            ..Config::default()
        };
        let mut is_endless = false;
        let simulation = Simulation::new(run, OperationKind::Request, self.seed, server);
        let mut finished = simulation.run(|run, _| {
            is_endless |= run.measurements().attempts.total > max_attempts * ops;
            if is_endless { Steer::Stop } else { Steer::On }
        });
        let log = finished.run.take_log().unwrap_or_default();
        Ok(TrialLog { log, is_endless: is_endless || finished.run.stalled_at().is_some() })
    }

    fn config(&self) -> RunConfig {
        let ops = self.ops as u64;
        let instant = |op: u64| Instant::from_nanos(op * 1_000_000_000 / ops);
        let (arrivals, clients, pause) = match self.clients {
            Clients::Fresh => (ArrivalProcess::Burst, ops, Duration::ZERO),
            Clients::Scattered => {
                (ArrivalProcess::Listed((0..ops).map(instant).collect()), ops, Duration::ZERO)
            }
            Clients::One { pause } => (ArrivalProcess::Closed { in_flight: 1 }, 1, pause),
        };
        RunConfig {
            seed: self.seed,
            workload: Workload { arrivals, ops: Some(ops), duration: None },
            clients: u32::try_from(clients).unwrap_or(u32::MAX),
            undisturbed_attempt: Duration::ZERO,
            patience: PATIENCE,
            pause,
            ..RunConfig::default()
        }
    }
}

fn ops_of(log: &RunLog, ops: usize) -> Vec<Op> {
    let never =
        Op { attempts: 0, before_first: 0.0, delays: Vec::new(), after_last: 0.0, ending: Ending::Refused };
    // Each op with the end of its last attempt.
    let mut all = vec![(never, Instant::ORIGIN); ops];
    for sample in &log.samples {
        let index = usize::try_from(sample.op).unwrap_or(usize::MAX);
        let Some((op, last)) = all.get_mut(index) else { continue };
        if op.attempts == 0 {
            op.before_first = sample.sent.since(sample.arrived).as_secs_f64();
        } else {
            op.delays.push(sample.sent.since(*last).as_secs_f64());
        }
        op.attempts += 1;
        *last = sample.ended;
        op.ending = match (sample.status, sample.cause) {
            (Status::Succeeded, _) => Ending::Success,
            (_, Some(Cause::Status(code))) => Ending::Answer(code),
            _ => Ending::Transport,
        };
    }
    for refusal in &log.refusals {
        let Refusal::GivenUp { op, at, .. } = refusal else { continue };
        let index = usize::try_from(*op).unwrap_or(usize::MAX);
        if let Some((op, last)) = all.get_mut(index)
            && op.attempts > 0
        {
            op.after_last = at.since(*last).as_secs_f64();
        }
    }
    all.into_iter().map(|(op, _)| op).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(strategy: &str, script: &str, clients: Clients, ops: usize) -> Option<Vec<Op>> {
        let (strategy, script) = (strategy.parse().unwrap(), script.parse().unwrap());
        Trial { strategy: &strategy, script: &script, clients, ops, seed: 1 }.run().unwrap()
    }

    fn ops(strategy: &str, script: &str, clients: Clients, ops: usize) -> Vec<Op> {
        replay(strategy, script, clients, ops).expect("it ends")
    }

    #[test]
    fn attempts_delays_and_endings_are_reported_per_op() {
        let strategy = "constant:delay=1500ms,max-attempts=3";
        for (script, attempts, ending) in [
            ("503", 3, Ending::Answer(503)),
            ("503|200", 2, Ending::Success),
            ("404", 1, Ending::Answer(404)),
            ("close", 3, Ending::Transport),
        ] {
            for op in ops(strategy, script, Clients::Fresh, 3) {
                assert_eq!((op.attempts, op.ending), (attempts, ending), "{script}");
                assert_eq!(op.delays, vec![1.5; attempts as usize - 1], "{script}");
                assert_eq!((op.before_first, op.after_last), (0.0, 0.0), "{script}");
            }
        }
    }

    #[test]
    fn separate_clients_draw_independently_and_share_no_state() {
        let all = ops("full-jitter:base=1s,max-attempts=2", "503", Clients::Scattered, 50);
        assert!(all.iter().all(|op| op.attempts == 2 && op.delays[0] <= 1.0));
        assert!(all.windows(2).all(|two| two[0].delays != two[1].delays));
        let budget = "immediate:max-attempts=2+retry-budget:max=4,ratio=0.1";
        assert!(ops(budget, "503", Clients::Fresh, 20).iter().all(|op| op.attempts == 2));
        let one = ops(budget, "503", Clients::One { pause: Duration::from_secs(1) }, 20);
        assert_eq!((one[0].attempts, one[19].attempts), (2, 1), "one client's budget runs out");
    }

    #[test]
    fn a_strategy_without_an_end_is_found_out() {
        for strategy in ["immediate", "constant:delay=1s"] {
            assert_eq!(replay(strategy, "503", Clients::Fresh, 20), None, "{strategy}");
        }
    }
}
