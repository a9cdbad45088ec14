//! Proven lower bound on the makespan of runs in which every op succeeds.
//!
//! No client can finish sooner, whatever its strategy and whatever the order in which it serves ops.
//!
//! # Assumptions
//!
//! The server has `m` slots. An accepted attempt holds one of them for the op's whole service time `sᵢ`. This time is
//! drawn from the seed and the op's number, so it is the same for every attempt of every client ([`LeastCosts`]). An
//! attempt takes at least the time `n` to reach admission, and its answer takes at least the time `b` to come back.
//! Every attempt draws both times anew and retries are not limited, so only the minimum of these draws is certain.
//! Rejections, losses, outages, timeouts, budgets and windows reject or delay attempts, but none of them lets an op
//! succeed without its service. Ops are numbered as they arrive. In real time, delays of the machine can only make
//! these times longer.
//!
//! Let `aᵢ` be an instant before which op `i` cannot arrive. These instants are chosen so that `aᵢ ≤ aᵢ₊₁`. Then no
//! service of op `i` begins before `rᵢ = aᵢ + n`. Let `C` be the end of the last service. The last success comes at
//! `C + b` or later.
//!
//! # Four bounds on C
//!
//! 1. *The longest op*: `C ≥ rᵢ + sᵢ` for every `i`.
//! 2. *Work*: consider the ops from `i` on, if there are at least `m` of them. All of their service is done in slots.
//!    Let `q ≤ m` be the number of slots that they use. In each of these slots, take the first service of one of these
//!    ops. Those are services of different ops, so in ascending order they begin at or after the `q` smallest of the
//!    `rⱼ`, which are `rᵢ ≤ rᵢ₊₁ ≤ …`. From then on to `C` each slot serves at most one op at a time, so
//!    `Σ sⱼ ≤ Σ_q (C − rⱼ) ≤ Σ_m (C − rⱼ)`, because no term is negative. Hence
//!    `C ≥ (Σ_{j≥i} sⱼ + rᵢ + … + rᵢ₊ₘ₋₁) / m`. (That is at least `rᵢ + Σ_{j≥i} sⱼ / m`. Fewer ops than slots are
//!    bounded by 1.)
//! 3. *Rounds*: let `p` be the minimum service time, and `S₀ ≤ S₁ ≤ …` the instants at which services begin, in any
//!    order of ops. By `Sₖ` at least `k + 1` ops have arrived, so `Sₖ ≥ rₖ`. Moreover `Sₖ ≥ Sₖ₋ₘ + p`, because two of
//!    the `m + 1` services that begin from `Sₖ₋ₘ` to `Sₖ` share a slot. So with `Fₖ = max(rₖ, Fₖ₋ₘ + p)` we have
//!    `Sₖ ≥ Fₖ`, and `C ≥ Fₖ + p`. If all services take the same time, this is first come, first served, and no order
//!    is better.
//!
//! 4. *Rates*: let a rate limit of the server admit requests at some pace. Consider a client that is never late and
//!    sends no other requests, and let `Pₖ` be the instant at which its request `k`, which arrives at `rₖ`, is
//!    admitted. For rate limits with a [`Pace`], admitting a request as early as possible never delays the next one. So
//!    the `k`-th admitted request of any client is admitted at `Pₖ` or later, and its service ends at `Pₖ + p` or
//!    later.
//!
//! Without slots only the bounds by the longest op and by rates apply.
//!
//! # Arrivals
//!
//! In an open loop `aᵢ` is the arrival, which is the same for every strategy. In a closed loop arrivals depend on the
//! strategy, but only to a certain degree, because there are at most `l` unfinished ops. Each op stays unfinished for
//! at least `dᵢ = n + sᵢ + b`. Op `i` arrives when at least `i − l + 1` of the ops before it have ended. So it does not
//! arrive before the `(i − l + 1)`-th of their ends. Let `eⱼ = aⱼ + dⱼ`. Let `aᵢ` be the `(i − l + 1)`-th smallest of
//! `e₀ … eᵢ₋₁` (the origin, if a place is still free). By induction no op `j` ends before `eⱼ`, and no op `i` arrives
//! before `aᵢ`. These instants are a list schedule on `l` places. It depends neither on the strategy nor on anything
//! that happened in the run. If a closed loop ends by time, the number of ops depends on the strategy, and there is no
//! bound.
//!
//! The bound does not apply to a run with a given-up op, because such an op ends early and frees its place early. So
//! the makespan of such a run is not compared with the bound.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Instant, whole_nanos};

use crate::arrivals::Arrivals;
use crate::workload::{ArrivalProcess, OperationKind, RunConfig};

/// Minimum costs of a successful op at a server: the server's slots and rate limits, and the times of travel and
/// service.
pub trait LeastCosts: fmt::Debug + Send + Sync {
    /// Returns the server's number of slots, which is the maximum number of requests in service at once. At least 1;
    /// `None` if that number is not limited.
    fn slots(&self) -> Option<u32>;
    /// Returns true if the server sometimes has fewer slots than [`slots`](Self::slots), which is its maximum.
    fn slots_vary(&self) -> bool {
        false
    }
    /// Returns one [`Pace`] for each rate limit of the server. Each of them is computed as if its rate limit were the
    /// only one.
    fn paces(&self) -> Vec<Box<dyn Pace>>;
    /// Returns the minimum time from sending an attempt to its admission.
    fn request_delay(&self) -> Duration;
    /// Returns the minimum time from the end of service to the arrival of the answer.
    fn response_delay(&self) -> Duration;
    fn min_service(&self) -> Duration;
    /// Returns the exact time for which a slot serves this op.
    fn service(&self, op: u64) -> Duration;
}

/// Earliest instants at which a rate limit admits requests, whatever the client does.
pub trait Pace: fmt::Debug + Send + Sync {
    /// Returns the earliest instant at which the rate limit admits one more request, which arrives at `from`. `None` if
    /// the request is never admitted. Requests must be passed in the order of their arrival.
    fn next(&mut self, from: Instant) -> Option<Instant>;
    fn another(&self) -> Box<dyn Pace>;
}

impl Clone for Box<dyn Pace> {
    fn clone(&self) -> Self {
        self.another()
    }
}

#[derive(Clone, Debug)]
pub struct LowerBound {
    costs: Arc<dyn LeastCosts>,
    slots: Option<u32>,
    paces: Vec<Box<dyn Pace>>,
    /// Minimum time from sending to admission in nanoseconds. All times below are in nanoseconds, because they are
    /// summed for every op.
    request_delay: u64,
    response_delay: u64,
    min_service: u64,
    places: Option<Places>,
    first_arrival: Option<Instant>,
    /// Ops that were added most recently, at most as many as the server has slots.
    latest: VecDeque<Op>,
    reaches: i128,
    /// Sums of service times in nanoseconds: of all ops (`work`), and of all ops except those in `latest`
    /// (`work_before`).
    work: i128,
    work_before: i128,
    /// Maximum of `reaches - work_before` after any op until now, in nanoseconds. It is the part that idle slots
    /// contribute to bound 2 of the module documentation. The bound is the sum of this maximum and `work`, divided by
    /// the number of slots.
    idle: Option<i128>,
    /// Earliest possible end of the last service, in nanoseconds, according to three of the bounds: longest op, rounds
    /// and rates.
    served: u64,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    reach: u64,
    service: u64,
    /// Earliest possible start of the k-th service, in nanoseconds: `Fₖ` of the bound by rounds in the module
    /// documentation.
    start: u64,
}

#[derive(Clone, Debug)]
struct Places {
    limit: usize,
    /// Earliest instants, in nanoseconds, at which the places of a closed loop become free. Each unfinished op occupies
    /// one place. Places that have never been used are not in the list.
    free: BinaryHeap<Reverse<u64>>,
}

impl LowerBound {
    /// Creates a lower bound on the makespan of the workload in `config` at a server with the given costs. Returns
    /// `None` if no bound is proven for the workload.
    pub fn new(config: &RunConfig, costs: Arc<dyn LeastCosts>) -> Option<Self> {
        let places = match config.workload.arrivals {
            ArrivalProcess::Closed { .. } if config.workload.duration.is_some() => return None,
            ArrivalProcess::Closed { in_flight } => {
                Some(Places { limit: in_flight as usize, free: BinaryHeap::new() })
            }
            _ => None,
        };
        // No bound is proven for conditional writes, because the order of writes determines which of them must be
        // repeated.
        (config.kind == OperationKind::Request).then(|| Self {
            slots: costs.slots(),
            paces: costs.paces(),
            request_delay: whole_nanos(costs.request_delay()),
            response_delay: whole_nanos(costs.response_delay()),
            min_service: whole_nanos(costs.min_service()),
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

    /// Returns the lower bound on the makespan of the whole workload; `None` if the workload has more than `most` ops
    /// or no bound is proven.
    pub fn planned(config: &RunConfig, costs: Arc<dyn LeastCosts>, most: u64) -> Option<Duration> {
        let arrivals = Arrivals::new(config.workload.clone(), config.seed);
        Self::new(config, costs)?.with_rest(config, arrivals, 0, most)
    }

    /// Returns the lower bound on the makespan of the whole workload. First adds the ops from op `next` on, which have
    /// not been added yet. Returns `None` if there are more than `most` of them.
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

    /// Returns whether the lower bound on the makespan is proven for a server that reported this concurrency cap.
    pub(crate) fn holds_at(&self, cap: Option<u32>) -> bool {
        let is_fewer = || cap.is_some() && cap < self.slots;
        // A bound that was proven for unlimited slots holds for any number of slots, because fewer slots can only delay
        // ops.
        self.slots.is_none() || cap == self.slots || (self.costs.slots_vary() && is_fewer())
    }

    /// Adds an op to the lower bound on the makespan. In a closed loop, arrivals depend on the strategy, so `arrived`
    /// is ignored.
    pub fn add(&mut self, op: u64, arrived: Instant) {
        let service = whole_nanos(self.costs.service(op));
        let arrived = match &mut self.places {
            None => arrived.as_nanos(),
            Some(places) => {
                places.take(self.request_delay.saturating_add(service).saturating_add(self.response_delay))
            }
        };
        self.first_arrival.get_or_insert(Instant::from_nanos(arrived));
        let reach = arrived.saturating_add(self.request_delay);
        self.served = self.served.max(reach.saturating_add(service));
        for pace in &mut self.paces {
            // If the rate limit never admits a request, that request cannot succeed. So it does not delay the last
            // success.
            if let Some(passed) = pace.next(Instant::from_nanos(reach)) {
                self.served = self.served.max(passed.as_nanos().saturating_add(self.min_service));
            }
        }
        let Some(slots) = self.slots.map(|slots| slots as usize) else { return };
        let before = if self.latest.len() < slots { None } else { self.latest.pop_front() };
        let free = before.map_or(0, |before| before.start.saturating_add(self.min_service));
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
        self.served = self.served.max(start.saturating_add(self.min_service));
    }

    pub fn makespan(&self) -> Option<Duration> {
        let slots = i128::from(self.slots.unwrap_or(1));
        let by_work = self.idle.map_or(0, |idle| (self.work + idle + slots - 1) / slots);
        let by_work = u64::try_from(by_work).unwrap_or(u64::MAX);
        let success = Instant::from_nanos(self.served.max(by_work).saturating_add(self.response_delay));
        Some(success.since(self.first_arrival?))
    }
}

impl Places {
    /// Assigns one of the closed loop's places to the next op, which occupies the place for at least `stay`
    /// nanoseconds. Returns the earliest instant, in nanoseconds, at which that op can arrive.
    fn take(&mut self, stay: u64) -> u64 {
        let free = if self.free.len() < self.limit { None } else { self.free.pop() };
        let arrived = free.map_or(0, |Reverse(free)| free);
        self.free.push(Reverse(arrived.saturating_add(stay)));
        arrived
    }
}

#[cfg(test)]
mod tests;
