//! A lower bound on the makespan: what no client can be faster than, whatever its strategy and whatever order it serves
//! ops in. Proven here, for runs in which every op succeeds.
//!
//! # What is known
//!
//! The server has `m` slots, and an attempt that it accepts holds one for the op's whole service time `sᵢ`, which is keyed
//! by seed and op and so the same for every attempt of every client ([`LeastCosts`]). An attempt needs at least `n` to
//! reach admission and its answer at least `b` to come back: every attempt draws anew and retries are not limited, so of
//! these draws only the least is certain. Rejections, losses, outages, timeouts, budgets and windows turn attempts away or
//! hold them back; none lets an op succeed without its service. Ops are numbered as they arrive. In real time the machine
//! only adds to every one of these times.
//!
//! Let `aᵢ` be an instant before which op `i` does not arrive, never less than that of the op before. Then no service of
//! op `i` begins before `rᵢ = aᵢ + n`. Let `C` be the end of the last service; the last success comes at `C + b` or later.
//!
//! # Three bounds on C
//!
//! 1. *The longest op*: `C ≥ rᵢ + sᵢ` for every `i`.
//! 2. *Work*: take the ops from `i` on, if they are at least `m`. All of their service is done in slots; let `q ≤ m` be the
//!    slots that they use. Ordered by the first of these ops that each serves, the first services in those slots begin at
//!    or after the `q` smallest of the `rⱼ`, which are `rᵢ ≤ rᵢ₊₁ ≤ …`, for these are different ops. From then on to `C` each
//!    slot serves at most one at a time, so `Σ sⱼ ≤ Σ_q (C − rⱼ) ≤ Σ_m (C − rⱼ)`, as no term is negative. Hence
//!    `C ≥ (Σ_{j≥i} sⱼ + rᵢ + … + rᵢ₊ₘ₋₁) / m`. (That is at least `rᵢ + Σ_{j≥i} sⱼ / m`. Fewer ops than slots are bounded by 1.)
//! 3. *Rounds*: let `p` be the least that a service can take, and `S₀ ≤ S₁ ≤ …` the instants at which services begin, in
//!    whatever order. By `Sₖ` there have arrived `k + 1` ops, so `Sₖ ≥ rₖ`. And `Sₖ ≥ Sₖ₋ₘ + p`: of the `m + 1` services that
//!    begin from `Sₖ₋ₘ` to `Sₖ` two share a slot. So with `Fₖ = max(rₖ, Fₖ₋ₘ + p)` we have `Sₖ ≥ Fₖ`, and `C ≥ Fₖ + p`. When all
//!    services take the same time, that is first come, first served, and nothing is better.
//!
//! 4. *Rates*: let a law of the server let requests pass at a pace, which a client that is never late and asks for nothing else would meet: let
//!    `Pₖ` be when its request `k` passes that comes at `rₖ`. For the laws that have one, whoever passes as soon as it may lets the next
//!    pass no later; so of any client's requests the `k`-th that passes does so at `Pₖ` or later, and its service ends at `Pₖ + p` or later.
//!
//! Where there are no slots, only the longest op and rates bound.
//!
//! # When ops arrive
//!
//! In an open loop `aᵢ` is the arrival, the same for every strategy. In a closed loop arrivals depend on the strategy, but
//! not without limit: of at most `l` unfinished ops each stays at least `dᵢ = n + sᵢ + b`. Op `i` arrives when at least
//! `i − l + 1` of the ops before it have ended, so not before the `(i − l + 1)`-th of their ends; with `eⱼ = aⱼ + dⱼ` and `aᵢ` the
//! `(i − l + 1)`-th smallest of `e₀ … eᵢ₋₁` (the origin, if there are still places), by induction no op ends before `eⱼ` and none
//! arrives before `aᵢ`. That is a list schedule on `l` places; it needs neither the strategy nor anything that happened. When
//! a closed loop ends by time, how many ops there are depends on the strategy, and there is no bound.
//!
//! An op that is given up ends early, and frees its place early: where one is, the makespan is not compared with the bound.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Instant, whole_nanos};

use crate::arrivals::Arrivals;
use crate::workload::{ArrivalProcess, OperationKind, RunConfig};

/// What every success costs at least at a server with slots.
pub trait LeastCosts: fmt::Debug + Send + Sync {
    /// Most requests in service at once, at least 1; `None` where nothing bounds that.
    fn slots(&self) -> Option<u32>;
    /// Whether there are fewer slots at times.
    fn slots_vary(&self) -> bool {
        false
    }
    /// How soon requests pass the limits of rates, each for itself.
    fn paces(&self) -> Vec<Box<dyn Pace>>;
    /// No attempt reaches admission sooner after it was sent.
    fn way_there(&self) -> Duration;
    /// No answer comes back sooner after the end of service.
    fn way_back(&self) -> Duration;
    /// No service is shorter.
    fn least_service(&self) -> Duration;
    /// How long a slot serves this op, exactly.
    fn service(&self, op: u64) -> Duration;
}

/// How soon requests pass, whatever their client does.
pub trait Pace: fmt::Debug + Send + Sync {
    /// When one more passes at the soonest that comes at this instant, no earlier than those before it. `None`: never.
    fn next(&mut self, from: Instant) -> Option<Instant>;
    /// The same pace, as far as it has come.
    fn another(&self) -> Box<dyn Pace>;
}

impl Clone for Box<dyn Pace> {
    fn clone(&self) -> Self {
        self.another()
    }
}

/// The lower bound, op by op.
#[derive(Clone, Debug)]
pub struct LowerBound {
    costs: Arc<dyn LeastCosts>,
    slots: Option<u32>,
    paces: Vec<Box<dyn Pace>>,
    /// In nanoseconds, as every other time below: they are added up for every op.
    way_there: u64,
    way_back: u64,
    least_service: u64,
    places: Option<Places>,
    first_arrival: Option<Instant>,
    /// The latest ops, as many as there are slots at most.
    latest: VecDeque<Op>,
    /// Sum of the `reach` of those, in nanoseconds.
    reaches: i128,
    /// Service of all ops, and of those before the latest.
    work: i128,
    work_before: i128,
    /// The greatest `reaches - work_before` so far.
    idle: Option<i128>,
    /// No service of all these ends last sooner, by the longest op and by rounds.
    served: u64,
}

/// An op whose slot may still be in use.
#[derive(Clone, Copy, Debug)]
struct Op {
    reach: u64,
    service: u64,
    /// The `F` of rounds.
    start: u64,
}

/// Places of a closed loop.
#[derive(Clone, Debug)]
struct Places {
    limit: usize,
    /// When each place in use so far frees at the earliest.
    free: BinaryHeap<Reverse<u64>>,
}

impl LowerBound {
    /// A bound for this workload at a server with these costs; `None` where none is proven.
    pub fn new(config: &RunConfig, costs: Arc<dyn LeastCosts>) -> Option<Self> {
        let places = match config.workload.arrivals {
            ArrivalProcess::Closed { .. } if config.workload.duration.is_some() => return None,
            ArrivalProcess::Closed { in_flight } => {
                Some(Places { limit: in_flight as usize, free: BinaryHeap::new() })
            }
            _ => None,
        };
        // Who has to write again depends on who wrote when.
        (config.kind == OperationKind::Request).then(|| Self {
            slots: costs.slots(),
            paces: costs.paces(),
            way_there: whole_nanos(costs.way_there()),
            way_back: whole_nanos(costs.way_back()),
            least_service: whole_nanos(costs.least_service()),
            costs,
            places,
            first_arrival: None,
            latest: VecDeque::new(),
            reaches: 0,
            work: 0,
            work_before: 0,
            idle: None,
            served: 0,
        })
    }

    /// The bound on the whole of this workload, unless it has more ops than that.
    pub fn planned(config: &RunConfig, costs: Arc<dyn LeastCosts>, most: u64) -> Option<Duration> {
        let arrivals = Arrivals::new(config.workload.clone(), config.seed);
        Self::new(config, costs)?.with_rest(config, arrivals, 0, most)
    }

    /// The bound when what is left of the workload is added: the ops from `next` on.
    pub(crate) fn with_rest(
        mut self,
        config: &RunConfig,
        mut arrivals: impl Iterator<Item = Instant>,
        next: u64,
        most: u64,
    ) -> Option<Duration> {
        let end = next.saturating_add(most);
        if self.places.is_some() {
            let ops = config.workload.ops.filter(|ops| *ops <= end)?;
            (next..ops).for_each(|op| self.add(op, Instant::ORIGIN));
        } else {
            for (op, at) in (next..end).zip(arrivals.by_ref()) {
                self.add(op, at);
            }
            if arrivals.next().is_some() {
                return None;
            }
        }
        self.makespan()
    }

    /// Whether a server that has told of this cap is the one for which the bound was proven.
    pub(crate) fn holds_at(&self, cap: Option<u32>) -> bool {
        let is_fewer = || cap.is_some() && cap < self.slots;
        // Where slots bound nothing, any number of them does not.
        self.slots.is_none() || cap == self.slots || (self.costs.slots_vary() && is_fewer())
    }

    /// One more op, which arrived at this instant; in a closed loop that instant does not count.
    pub fn add(&mut self, op: u64, arrived: Instant) {
        let service = whole_nanos(self.costs.service(op));
        let arrived = match &mut self.places {
            None => arrived.as_nanos(),
            Some(places) => places.take(self.way_there.saturating_add(service).saturating_add(self.way_back)),
        };
        self.first_arrival.get_or_insert(Instant::from_nanos(arrived));
        let reach = arrived.saturating_add(self.way_there);
        self.served = self.served.max(reach.saturating_add(service));
        for pace in &mut self.paces {
            // What never passes does not succeed, and has no end.
            if let Some(passed) = pace.next(Instant::from_nanos(reach)) {
                self.served = self.served.max(passed.as_nanos().saturating_add(self.least_service));
            }
        }
        let Some(slots) = self.slots.map(|slots| slots as usize) else { return };
        let before = if self.latest.len() < slots { None } else { self.latest.pop_front() };
        let free = before.map_or(0, |before| before.start.saturating_add(self.least_service));
        let start = reach.max(free);
        if let Some(before) = before {
            self.reaches -= i128::from(before.reach);
            self.work_before += i128::from(before.service);
        }
        self.latest.push_back(Op { reach, service, start });
        self.reaches += i128::from(reach);
        self.work += i128::from(service);
        if self.latest.len() == slots {
            self.idle = self.idle.max(Some(self.reaches - self.work_before));
        }
        self.served = self.served.max(start.saturating_add(self.least_service));
    }

    /// The least that the makespan of the ops so far can be; `None` before the first.
    pub fn makespan(&self) -> Option<Duration> {
        let slots = i128::from(self.slots.unwrap_or(1));
        let by_work = self.idle.map_or(0, |idle| (self.work + idle + slots - 1) / slots);
        let by_work = u64::try_from(by_work).unwrap_or(u64::MAX);
        let success = Instant::from_nanos(self.served.max(by_work).saturating_add(self.way_back));
        Some(success.since(self.first_arrival?))
    }
}

impl Places {
    /// The next op's arrival, at the earliest; it stays for at least so long.
    fn take(&mut self, stay: u64) -> u64 {
        let free = if self.free.len() < self.limit { None } else { self.free.pop() };
        let arrived = free.map_or(0, |Reverse(free)| free);
        self.free.push(Reverse(arrived.saturating_add(stay)));
        arrived
    }
}

#[cfg(test)]
mod tests;
