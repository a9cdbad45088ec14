//! Figures that a run reports, during the run and after its end: snapshot, failed ops, bound on the makespan.

use std::time::Duration;

use tailback::{Gauges, Status};
use vocabulary::Instant;
use vocabulary::wire::ServerCounts;

use super::{AdvisedWait, Instance, InstanceId, Op, OpState, Run};
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
        let measured = &self.measured;
        snapshot.now = now;
        snapshot.phase = self.phase(now);
        snapshot.first_arrival = measured.first_arrival;
        snapshot.planned_ops = self.config.workload.ops;
        snapshot.planned_duration = self.config.workload.duration;
        snapshot.bound_holds = self.lower_bound.is_some();
        snapshot.ops = measured.ops;
        snapshot.attempts = measured.attempts;
        snapshot.failures.copy_from(&measured.failures);
        snapshot.in_flight = self.in_flight();
        snapshot.ready = self.instances.iter().map(Instance::ready_ops).sum();
        snapshot.sleeping = self.instances.iter().map(|instance| instance.sleeping).sum();
        snapshot.advised_waits = self.advised_waits();
        snapshot.early_shared = self.measured.early_shared;
        snapshot.gauges = self.gauges();
        snapshot.server_busy = self.server.map(|seen| u64::from(seen.busy));
        snapshot.server_cap = self.server.and_then(|seen| seen.cap).map(u64::from);
        snapshot.limits = self.limits;
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
        } else if self.stopping {
            Phase::Stopping
        } else if self.agenda.arriving.continues(now) {
            Phase::Arriving
        } else {
            Phase::Finishing
        }
    }

    /// Returns the number of ops that wait long because a server advised it, and the wait that ends last.
    pub fn advised_waits(&self) -> Option<(u64, AdvisedWait)> {
        self.advised.long()
    }

    pub fn longest_advised_wait(&self) -> Option<AdvisedWait> {
        self.advised.longest
    }

    /// Records the send lag of an attempt that was withdrawn at `at` before it was sent.
    pub fn on_never_sent(&mut self, due: Instant, at: Instant) {
        self.measured.send_lag.record_between(due, at);
    }

    /// Returns true if the server's answers reported several different concurrency caps. Also returns true if they
    /// reported another cap than the one known before the run.
    pub fn cap_changed(&self) -> bool {
        self.cap_changed
    }

    pub fn stalled_at(&self) -> Option<Instant> {
        self.stalled_at
    }

    /// Returns the number of consecutive tries at the instant of the stall, if the run stalled because its tries took
    /// no time. Returns 0 for all other runs.
    pub fn tries_without_time(&self) -> u64 {
        self.stalled_at.map_or(0, |at| self.stall.tries_without_time(at))
    }

    /// Returns the number of ops in the whole run, including ops that had not arrived when the run was stopped. The
    /// seed determines this number. `None` if more than 10⁸ ops had not arrived. Also `None` for a closed loop whose
    /// arrivals end by time before its configured ops have arrived, because their number depends on the strategy.
    pub fn offered(&self) -> Option<u64> {
        let workload = &self.config.workload;
        match (&workload.arrivals, workload.ops, workload.duration) {
            (ArrivalProcess::Closed { .. }, ops, duration) => {
                ops.filter(|ops| duration.is_none() || self.measured.ops.arrived == *ops)
            }
            // Fast path: if nothing but the configured number of ops limits the arrivals, that number is the result. So
            // the arrivals need not be drawn and counted.
            (ArrivalProcess::Poisson { .. } | ArrivalProcess::Uniform { .. }, Some(ops), None) => Some(ops),
            _ => Some(self.measured.ops.arrived + self.agenda.arriving.count_rest(MAX_COUNTED)?),
        }
    }

    /// Returns the number of given-up or unfinished ops whose last attempt was refused permanently. Waiting does not help
    /// such ops.
    pub fn failed_for_good(&self) -> u64 {
        self.measured.ops.failed_for_good + self.unfinished(Op::failed_for_good)
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
        let ops = self.measured.ops;
        if self.silent_attempts >= DEAD {
            return ops.given_up + ops.unfinished() - self.given_up_before_silence;
        }
        match self.stalled_at {
            None => ops.failed,
            Some(_) if self.failed_attempts >= FAILING => ops.failed + ops.unfinished(),
            Some(_) => ops.failed + self.unfinished(|op| matches!(op.last, Some(Status::Failed(_)))),
        }
    }

    fn unfinished(&self, is_counted: impl Fn(&Op) -> bool) -> u64 {
        let counted = self.ops.iter().filter(|(_, op)| op.place != OpState::Dead && is_counted(op));
        counted.count() as u64
    }

    /// Returns a lower bound on the makespan for all strategies: if every op succeeds, no client completes the ops
    /// sooner. `None` if no bound is proven, or if the server differs from the one for which it was proven.
    ///
    /// The bound of a stalled run covers all ops of the workload, including those that had not arrived. The bound of an
    /// interrupted run covers only the ops that had arrived.
    pub fn optimal_makespan(&self) -> Option<Duration> {
        let bound = self.lower_bound.as_ref()?;
        if self.stalled_at.is_none() {
            return bound.makespan();
        }
        let rest = self.agenda.arriving.rest();
        bound.clone().with_rest(&self.config, rest, self.measured.ops.arrived, WORTH_THE_TIME)
    }

    pub fn conservation(&self, server: Option<&ServerCounts>) -> Conservation {
        let tried = self.ops.iter().filter(|(_, op)| op.place != OpState::Dead).count();
        let fresh = |instance: &Instance| instance.ready.iter().filter(|op| op.slot().is_none()).count();
        let unfinished = tried + self.instances.iter().map(fresh).sum::<usize>();
        let sent = self.in_flight() - self.waiting as u64;
        Conservation::check(&self.measured, unfinished as u64, sent, server)
    }

    fn gauges(&self) -> Gauges {
        let mut gauges =
            self.instances.first().map(|instance| instance.strategy.gauges()).unwrap_or_default();
        gauges.window = gauges.window.map(|_| self.window);
        gauges.ssthresh = gauges.ssthresh.map(|_| self.ssthresh);
        for (kind, sum) in self.drawn.values() {
            gauges.show(kind, sum);
        }
        gauges
    }

    #[inline]
    pub(super) fn note_gauges(&mut self, id: InstanceId, at: Instant) {
        if self.instances[id].strategy.reports() {
            self.note_reported(id, at);
        }
    }

    fn note_reported(&mut self, id: InstanceId, at: Instant) {
        let alone = self.instances.len() == 1;
        let instance = &mut self.instances[id];
        let gauges = instance.strategy.gauges();
        for (kind, value) in gauges.drawn() {
            if let Some(sum) = self.drawn.take(&mut instance.drawn, alone, kind, value) {
                self.measured.series.draw(at, kind, sum);
            }
        }
        if gauges.window == instance.window && gauges.ssthresh == instance.ssthresh {
            return;
        }
        let change = |new: Option<f64>, old: Option<f64>| new.unwrap_or(0.0) - old.unwrap_or(0.0);
        if alone {
            // With a single strategy instance, the sum is set to the value itself. Adding differences instead would
            // cause rounding errors.
            self.window = gauges.window.unwrap_or(0.0);
            self.ssthresh = gauges.ssthresh.unwrap_or(0.0);
        } else {
            self.window += change(gauges.window, instance.window);
            self.ssthresh += change(gauges.ssthresh, instance.ssthresh);
        }
        // The slow-start threshold is recorded only when it changes, because the series repeats an unchanged value in
        // later buckets.
        let moved = gauges.ssthresh.is_some() && gauges.ssthresh != instance.ssthresh;
        instance.window = gauges.window;
        instance.ssthresh = gauges.ssthresh;
        self.measured.on_window(at, self.window);
        if moved {
            self.measured.series.at(at).ssthresh.set(self.ssthresh);
        }
    }
}
