//! Figures that a run reports, during the run and after its end: snapshot, failed ops, bound on the makespan.

use std::time::Duration;

use tailback::{Gauges, Op, Status, Strategy};
use vocabulary::Instant;
use wire::ServerCounts;

use super::harness::RetryOutlook;
use super::{AdvisedWait, Run};
use crate::conservation::Conservation;
use crate::measure::histogram;
use crate::snapshot::{Phase, Snapshot};
use crate::workload::ArrivalProcess;

/// Maximum number of future ops that are included in the lower bound on the makespan of a stalled run. Including more
/// of them would take too long.
const WORTH_THE_TIME: u64 = 10_000_000;

/// Maximum number of future ops that are counted after a run was stopped. Counting this many takes about a second.
const MAX_COUNTED: u64 = 100_000_000;

impl Run {
    pub fn snapshot(&self, now: Instant, snapshot: &mut Snapshot) {
        let measured = &self.host.measured;
        snapshot.now = now;
        snapshot.phase = self.phase(now);
        snapshot.first_arrival = measured.first_arrival;
        snapshot.planned_ops = self.host.config.workload.ops;
        snapshot.planned_duration = self.host.config.workload.duration;
        snapshot.bound_holds = self.host.lower_bound.is_some();
        snapshot.ops = measured.ops;
        snapshot.attempts = measured.attempts;
        snapshot.failures.copy_from(&measured.failures);
        snapshot.in_flight = self.in_flight();
        snapshot.ready = self.dispatcher.ready();
        snapshot.sleeping = self.dispatcher.sleeping();
        snapshot.advised_waits = self.advised_waits();
        snapshot.early_shared = self.host.measured.early_shared;
        snapshot.gauges = self.gauges();
        snapshot.server_busy = self.host.server.map(|seen| u64::from(seen.busy));
        snapshot.server_cap = self.host.server.and_then(|seen| seen.cap).map(u64::from);
        snapshot.limits = self.host.limits;
        snapshot.op_latency.copy_from(&measured.op_latency);
        snapshot.send_lag.copy_from(&measured.send_lag);
        measured.copy_attempt_latency(&mut snapshot.attempt_latency);
        snapshot.excess.copy_from(&measured.excess);
        histogram::copy(&measured.attempts_per_op, &mut snapshot.attempts_per_op);
        snapshot.series.copy_from(&measured.series);
    }

    pub fn phase(&self, now: Instant) -> Phase {
        if self.is_over() {
            Phase::Done
        } else if self.dispatcher.is_stopping() {
            Phase::Stopping
        } else if self.host.clocks.arriving.continues(now) {
            Phase::Arriving
        } else {
            Phase::Finishing
        }
    }

    /// Returns the number of ops that wait long because a server advised it, and the wait that ends last.
    pub fn advised_waits(&self) -> Option<(u64, AdvisedWait)> {
        self.host.advised.long()
    }

    pub fn longest_advised_wait(&self) -> Option<AdvisedWait> {
        self.host.advised.longest
    }

    /// Records the send lag of an attempt that was withdrawn at `at` before it was sent.
    pub fn on_never_sent(&mut self, due: Instant, at: Instant) {
        self.host.measured.send_lag.record_between(due, at);
    }

    /// Returns true if the server's answers reported several different concurrency caps. Also returns true if they
    /// reported another cap than the one known before the run.
    pub fn cap_changed(&self) -> bool {
        self.host.cap_changed
    }

    pub fn stalled_at(&self) -> Option<Instant> {
        self.stalled_at
    }

    /// Returns the number of consecutive tries at the instant of the stall, if the run stalled because its tries took
    /// no time. Returns 0 for all other runs.
    pub fn tries_without_time(&self) -> u64 {
        self.stalled_at.map_or(0, |at| self.host.stall.tries_without_time(at))
    }

    /// Returns the number of ops in the whole run, including ops that had not arrived when the run was stopped. The
    /// seed determines this number. `None` if more than 10⁸ ops had not arrived. Also `None` for a closed loop whose
    /// arrivals end by time before its configured ops have arrived, because their number depends on the strategy.
    pub fn offered(&self) -> Option<u64> {
        let workload = &self.host.config.workload;
        match (&workload.arrivals, workload.ops, workload.duration) {
            (ArrivalProcess::Closed { .. }, ops, duration) => {
                ops.filter(|ops| duration.is_none() || self.host.measured.ops.arrived == *ops)
            }
            // Fast path: if nothing but the configured number of ops limits the arrivals, that number is the result. So
            // the arrivals need not be drawn and counted.
            (ArrivalProcess::Poisson { .. } | ArrivalProcess::Uniform { .. }, Some(ops), None) => Some(ops),
            _ => Some(self.host.measured.ops.arrived + self.host.clocks.arriving.count_rest(MAX_COUNTED)?),
        }
    }

    /// Returns the number of given-up or unfinished ops whose last attempt was refused permanently. Waiting does not help
    /// such ops.
    pub fn failed_for_good(&self) -> u64 {
        self.host.measured.ops.failed_for_good + self.unfinished(|op| op.data == RetryOutlook::Refused)
    }

    /// Returns the number of ops that were given up after a failure. If the run stalled, unfinished ops whose last try
    /// failed are included.
    ///
    /// If the target was dead at the end of the run, all ops are included that had not ended when it died. If the last
    /// tries before a stall all failed, every unfinished op is included. The reason is that ops without a failure only
    /// wait for an answer then. Other ops that are unfinished because the run's time ended are not included.
    pub fn failed(&self) -> u64 {
        /// The target counts as dead after at least this many consecutive attempts that found no server. A smaller
        /// number may be bad luck at the end of the run.
        const DEAD: u64 = 3;
        /// Minimum number of consecutive failed attempts before a stall for which all unfinished ops count as failed. A
        /// limiter considers a server failing after the same number of failures.
        const FAILING: u64 = 10;
        let ops = self.host.measured.ops;
        if self.host.silent_attempts >= DEAD {
            return ops.given_up + ops.unfinished() - self.host.given_up_before_silence;
        }
        match self.stalled_at {
            None => ops.failed,
            Some(_) if self.host.failed_attempts >= FAILING => ops.failed + ops.unfinished(),
            Some(_) => ops.failed + self.unfinished(|op| matches!(op.last, Some(Status::Failed(_)))),
        }
    }

    fn unfinished(&self, is_counted: impl Fn(&Op<RetryOutlook>) -> bool) -> u64 {
        self.dispatcher.ops().filter(|op| is_counted(op)).count() as u64
    }

    /// Returns a lower bound on the makespan for all strategies: if every op succeeds, no client completes the ops
    /// sooner. `None` if no bound is proven, or if the server differs from the one for which it was proven.
    ///
    /// The bound of a stalled run covers all ops of the workload, including those that had not arrived. The bound of an
    /// interrupted run covers only the ops that had arrived.
    pub fn optimal_makespan(&self) -> Option<Duration> {
        let bound = self.host.lower_bound.as_ref()?;
        if self.stalled_at.is_none() {
            return bound.makespan();
        }
        let rest = self.host.clocks.arriving.rest();
        bound.clone().with_rest(&self.host.config, rest, self.host.measured.ops.arrived, WORTH_THE_TIME)
    }

    pub fn conservation(&self, server: Option<&ServerCounts>) -> Conservation {
        let sent = self.in_flight() - self.host.waiting as u64;
        Conservation::check(&self.host.measured, self.dispatcher.unfinished() as u64, sent, server)
    }

    fn gauges(&self) -> Gauges {
        let first = self.dispatcher.strategies().next().map(Strategy::gauges);
        self.host.gauging.sums(first.unwrap_or_default())
    }
}
