//! Synthetic run for tests and the demo: 2,000 ops against a server with 50 slots, in steps of 10 ms.
//!
//! The run only looks like a real run; it does not simulate one. Its client uses either a window or exponential backoff.
//! A rejected or failed attempt reduces the window to 0.9 of its size. Afterwards, the window grows by one each time that
//! a whole window of attempts succeeds.

use std::time::Duration;

use loadgen_core::{Phase, RATE_LIMIT, Snapshot};
use vocabulary::Instant;
use wire::AdvertisedLimits;

const STEP_MS: u64 = 10;
const CAP: usize = 50;
const OPS: u64 = 2_000;

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Success,
    Rejection,
    Failure,
}

struct Op {
    arrived_ms: u64,
    attempts: u32,
    ready_ms: u64,
}

struct Flight {
    op: Op,
    number: u64,
    ends_ms: u64,
    ending: Ending,
}

pub(crate) struct SyntheticRun {
    snapshot: Snapshot,
    waiting: Vec<Op>,
    flying: Vec<Flight>,
    window: Option<f64>,
    ssthresh: f64,
    sent: u64,
    cut_at: u64,
    /// Interval between failing attempts: if it is n, every n-th attempt fails. 0 if no attempt fails.
    fails_every: u64,
    pub(crate) cap: usize,
    /// Limits that the server advertises for its stack of policies. If there are any such limits, the server reports no
    /// concurrency cap.
    pub(crate) limits: AdvertisedLimits,
}

impl SyntheticRun {
    pub(crate) fn aimd() -> Self {
        let mut snapshot = Snapshot {
            first_arrival: Some(Instant::ORIGIN),
            planned_ops: Some(OPS),
            optimal_makespan: Some(Duration::from_millis(20_100)),
            ..Snapshot::default()
        };
        snapshot.gauges.phase = Some("slow start");
        snapshot.gauges.reason = Some("started");
        Self {
            snapshot,
            waiting: Vec::new(),
            flying: Vec::new(),
            window: Some(20.0),
            ssthresh: 1024.0,
            sent: 0,
            cut_at: 0,
            fails_every: 0,
            cap: CAP,
            limits: AdvertisedLimits::default(),
        }
    }

    pub(crate) fn overload() -> Self {
        let mut run = Self { window: None, fails_every: 23, ..Self::aimd() };
        run.snapshot.gauges = loadgen_core::Snapshot::default().gauges;
        run
    }

    pub(crate) fn until(mut self, seconds: f64) -> Snapshot {
        self.advance(seconds);
        self.snapshot
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        while self.snapshot.now.as_secs_f64() + 1e-9 < seconds && !self.is_over() {
            self.step();
        }
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn is_over(&self) -> bool {
        self.snapshot.phase == Phase::Done
    }

    fn step(&mut self) {
        let now_ms = self.snapshot.now.as_nanos() / 1_000_000 + STEP_MS;
        self.snapshot.now = Instant::from_millis(now_ms);
        for _ in 0..10 {
            if self.snapshot.ops.arrived < OPS {
                self.snapshot.ops.arrived += 1;
                self.waiting.push(Op { arrived_ms: now_ms, attempts: 0, ready_ms: now_ms });
            }
        }
        self.land(now_ms);
        self.launch(now_ms);
        self.show(now_ms);
    }

    fn land(&mut self, now_ms: u64) {
        while let Some(index) = self.flying.iter().position(|flight| flight.ends_ms <= now_ms) {
            let mut flight = self.flying.swap_remove(index);
            let (attempts, point) = (&mut self.snapshot.attempts, self.snapshot.series.at(self.snapshot.now));
            if flight.ending == Ending::Success {
                attempts.succeeded += 1;
                point.succeeded += 1;
                self.snapshot.ops.succeeded += 1;
                self.snapshot.op_latency.record(Duration::from_millis(now_ms - flight.op.arrived_ms));
                self.snapshot.attempts_per_op += u64::from(flight.op.attempts);
                if let Some(window) = &mut self.window {
                    *window += if *window < self.ssthresh { 1.0 } else { 1.0 / *window };
                }
                continue;
            }
            if flight.ending == Ending::Rejection {
                attempts.rejected += 1;
                point.rejected += 1;
            } else {
                attempts.failed += 1;
                point.failed += 1;
            }
            if self.window.is_none() {
                let backoff_ms = 50_u64 << flight.op.attempts.min(9);
                flight.op.ready_ms = now_ms + backoff_ms / 2 + flight.number * 7919 % backoff_ms;
            }
            if let Some(window) = self.window.as_mut().filter(|_| flight.number >= self.cut_at) {
                self.ssthresh = *window * 0.9;
                *window = self.ssthresh;
                self.cut_at = self.sent;
                self.snapshot.gauges.phase = Some("congestion avoidance");
                self.snapshot.gauges.reason = Some("cut by a rejection");
            }
            self.waiting.push(flight.op);
        }
    }

    fn launch(&mut self, now_ms: u64) {
        let room = |flying: usize, window: Option<f64>| window.is_none_or(|window| (flying as f64) < window);
        while room(self.flying.len(), self.window) {
            let Some(index) = self.waiting.iter().position(|op| op.ready_ms <= now_ms) else { break };
            let mut op = self.waiting.remove(index);
            op.attempts += 1;
            let busy = self.busy();
            let fails = self.fails_every > 0 && self.sent % self.fails_every == 1;
            let (ending, ms) = match () {
                () if fails => (Ending::Failure, 150),
                () if busy < self.cap => (Ending::Success, 600),
                () => (Ending::Rejection, 150),
            };
            let ends_ms = now_ms + ms;
            self.flying.push(Flight { op, number: self.sent, ends_ms, ending });
            self.sent += 1;
            self.snapshot.attempts.total += 1;
            self.snapshot.series.at(self.snapshot.now).sent += 1;
            self.snapshot.send_lag.record(Duration::from_micros(20 + self.sent % 50));
        }
    }

    /// Returns the number of occupied slots. The synthetic server has no network delay, and its rejections hold no
    /// slot.
    fn busy(&self) -> usize {
        self.flying.iter().filter(|flight| flight.ending == Ending::Success).count()
    }

    fn show(&mut self, now_ms: u64) {
        let (in_flight, busy) = (self.flying.len(), self.busy());
        let ready = self.waiting.iter().filter(|op| op.ready_ms <= now_ms).count();
        let snapshot = &mut self.snapshot;
        snapshot.in_flight = in_flight as u64;
        snapshot.ready = ready as u64;
        snapshot.sleeping = (self.waiting.len() - ready) as u64;
        snapshot.server_busy = Some(busy as u64);
        snapshot.server_cap = self.limits.is_empty().then_some(self.cap as u64);
        snapshot.limits = self.limits;
        snapshot.phase = match snapshot.ops {
            ops if ops.succeeded == OPS => Phase::Done,
            ops if ops.arrived == OPS => Phase::Finishing,
            _ => Phase::Arriving,
        };
        let point = snapshot.series.at(snapshot.now);
        point.in_flight.set(in_flight as f64);
        point.server_busy.set(busy as f64);
        let places = self.limits.places().map(|places| f64::from(places.cap));
        point.server_cap.set(places.unwrap_or(self.cap as f64));
        if let Some(window) = self.window {
            point.window.set(window);
            point.ssthresh.set(self.ssthresh);
            snapshot.gauges.window = Some(window);
            snapshot.gauges.ssthresh = Some(self.ssthresh);
        }
        if let Some(rate) = self.limits.rate() {
            snapshot.series.draw(snapshot.now, &RATE_LIMIT, rate.per_s());
        }
    }
}
