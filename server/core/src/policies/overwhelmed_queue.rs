//! A short queue that is processed in ticks, and becomes slower the more requests are outstanding.
//!
//! Source: the document "Exploring backoff", called seed 002 in this project. While at most `limit` requests are outstanding, each of them
//! makes progress in every tick. While more requests are outstanding, the queue does only `limit` units of work per tick. The units are
//! divided between accepted and rejected requests in proportion to their numbers, and rounded down. Accepted requests get at least one
//! unit. This division agrees with the figures in the document.

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::{Instant, Purpose, choices, draws, parameters, unit, whole_nanos};

use crate::policies::{Admission, Arrived, Capacity, Load, PolicyConfig, Released};
use crate::{Request, RequestId, ServerDecision, ServiceModel};

parameters! {
    /// Parameters of the queue. The defaults are the numbers in the text of "Exploring backoff" (seed 002).
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct QueueConfig = "overwhelmed-queue" {
        tick: Duration = Duration::from_millis(10), "time between two steps of processing";
        capacity: u32 = 5, "maximum number of accepted requests in the queue", 1..=1_000_000;
        service: u32 = 5, "number of steps that an accepted request takes", 1..=1_000_000;
        reject: u32 = 1, "number of steps that a rejection takes", 1..=1_000_000;
        limit: u32 = 25, "number of outstanding requests above which the queue is overwhelmed", 1..=1_000_000;
        subset: choice Subset = Subset::Proportional, "requests that an overwhelmed queue processes: \
            accepted and rejected ones in proportion, or chosen at random";
    }
    summary = "a queue that is processed in ticks and slows down when too many requests are outstanding";
    rule = "a request is accepted while fewer than `capacity` accepted ones are outstanding. An accepted \
        request takes `service` steps, a rejection takes `reject` steps. In every `tick`, each outstanding \
        request makes one step. If more than `limit` are outstanding, only `limit` of them make a step. With \
        subset=proportional, these are chosen from accepted and rejected requests in proportion to their \
        numbers (rounded down, the oldest first, at least one accepted). With subset=random, they are chosen \
        at random";
    source = "the document Exploring backoff (scenario exploring-backoff)";

    fn check(&self) -> Result<(), String> {
        if self.tick.is_zero() { Err("`tick` must be longer than zero".to_owned()) } else { Ok(()) }
    }
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Subset {
        /// If more than `limit` requests are outstanding, the oldest accepted and the oldest rejected requests make progress. The units of work
        /// are divided between accepted and rejected requests in proportion to their numbers.
        Proportional = "proportional",
        /// If more than `limit` requests are outstanding, randomly drawn requests make progress. Every outstanding request, accepted or
        /// rejected, has the same probability.
        Random = "random",
    }
}

impl PolicyConfig for QueueConfig {
    fn build(&self) -> Option<Box<dyn Admission>> {
        Some(Box::new(OverwhelmedQueue { config: self.clone(), ..OverwhelmedQueue::default() }))
    }

    fn mean_service(&self) -> Option<Duration> {
        Some(self.tick * self.service)
    }
}

#[derive(Debug, Default)]
struct OverwhelmedQueue {
    config: QueueConfig,
    accepted: VecDeque<Entry>,
    rejected: VecDeque<Entry>,
    /// Instant of the next tick; `None` while no request is outstanding.
    tick_at: Option<Instant>,
    /// Requests that ended at the last tick, whose instant is `done_at`.
    done: VecDeque<Released>,
    done_at: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: RequestId,
    left: u32,
}

impl Admission for OverwhelmedQueue {
    /// Accepts the request if the queue has a free place. A request that arrives at a tick makes progress from the next tick on.
    fn arrive(&mut self, at: Instant, request: &Request, _service: &ServiceModel) -> Arrived {
        let id = request.id;
        let verdict = if self.admitted() < self.config.capacity {
            self.accepted.push_back(Entry { id, left: self.config.service });
            ServerDecision::Accepted
        } else {
            self.rejected.push_back(Entry { id, left: self.config.reject });
            ServerDecision::Rejected
        };
        if self.tick_at.is_none() {
            let tick = self.tick_nanos();
            self.tick_at = Some(Instant::from_nanos((at.as_nanos() / tick + 1).saturating_mul(tick)));
        }
        Arrived::Admitted(verdict)
    }

    fn cancel(&mut self, _at: Instant, id: RequestId, _service: &ServiceModel) -> Option<Released> {
        let busy = self.outstanding();
        for (list, verdict) in
            [(&mut self.accepted, ServerDecision::Accepted), (&mut self.rejected, ServerDecision::Rejected)]
        {
            if let Some(position) = list.iter().position(|entry| entry.id == id) {
                list.remove(position);
                return Some(Released::at_once(id, verdict, busy));
            }
        }
        // If the cancelled request ended at the last tick, its end must not be reported.
        self.done.retain(|released| released.id != id);
        None
    }

    fn advance(&mut self, seed: u64, _service: &ServiceModel) -> Option<Released> {
        if self.done.is_empty()
            && let Some(at) = self.tick_at
        {
            self.tick(at, seed);
        }
        self.done.pop_front()
    }

    fn load(&self) -> Load {
        let tick_at = self.tick_at.unwrap_or(Instant::FAR_FUTURE);
        let next = if self.done.is_empty() { tick_at } else { self.done_at };
        Load { busy: self.outstanding(), in_service: self.admitted(), next }
    }

    fn capacity(&self) -> Capacity {
        Capacity::Own(self.config.capacity)
    }

    /// Returns the number of free places in the queue. Rejected requests are outstanding, too, but do not count, because they take no
    /// place.
    fn free(&self, capacity: u32) -> u32 {
        capacity - self.admitted()
    }
}

impl OverwhelmedQueue {
    fn outstanding(&self) -> u32 {
        count(self.accepted.len() + self.rejected.len())
    }

    fn admitted(&self) -> u32 {
        count(self.accepted.len())
    }

    fn tick_nanos(&self) -> u64 {
        whole_nanos(self.config.tick)
    }

    fn tick(&mut self, at: Instant, seed: u64) {
        let (accepted, rejected) = (self.accepted.len(), self.rejected.len());
        let (outstanding, limit) = (accepted + rejected, self.config.limit as usize);
        let busy = self.outstanding();
        self.done_at = at;
        if outstanding > limit && self.config.subset == Subset::Random {
            let chosen = self.chosen(outstanding, limit, at, seed);
            let (of_accepted, of_rejected) = chosen.split_at(accepted);
            work(&mut self.accepted, of_accepted, ServerDecision::Accepted, busy, &mut self.done);
            work(&mut self.rejected, of_rejected, ServerDecision::Rejected, busy, &mut self.done);
        } else {
            let (first, second) = if outstanding <= limit {
                (accepted, rejected)
            } else {
                (accepted.min((limit * accepted / outstanding).max(1)), limit * rejected / outstanding)
            };
            work_on_first(&mut self.accepted, first, ServerDecision::Accepted, busy, &mut self.done);
            work_on_first(&mut self.rejected, second, ServerDecision::Rejected, busy, &mut self.done);
        }
        let outstanding = self.accepted.len() + self.rejected.len();
        self.tick_at = (outstanding > 0).then(|| at + self.config.tick);
    }

    /// Draws the requests that make progress in this tick. The result has one value per outstanding request, accepted requests first.
    /// Exactly `limit` requests make progress. They are drawn without replacement and with equal probability.
    fn chosen(&self, outstanding: usize, limit: usize, at: Instant, seed: u64) -> Vec<bool> {
        let mut rng = draws(seed, Purpose::Subset, at.as_nanos() / self.tick_nanos(), 0);
        let mut indices: Vec<usize> = (0..outstanding).collect();
        let mut chosen = vec![false; outstanding];
        for drawn in 0..limit {
            let left = outstanding - drawn;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is below `left`")]
            let other = drawn + (unit(&mut rng) * left as f64) as usize;
            indices.swap(drawn, other.min(outstanding - 1));
            chosen[indices[drawn]] = true;
        }
        chosen
    }
}

fn work(
    list: &mut VecDeque<Entry>,
    chosen: &[bool],
    verdict: ServerDecision,
    busy: u32,
    done: &mut VecDeque<Released>,
) {
    let mut index = 0;
    list.retain_mut(|entry| {
        entry.left -= u32::from(chosen[index]);
        index += 1;
        if entry.left == 0 {
            done.push_back(Released::at_once(entry.id, verdict, busy));
        }
        entry.left > 0
    });
}

/// Variant of `work` that works on the first entries of a list only. Fast path: it does not touch the other entries, whose number may be
/// much larger.
fn work_on_first(
    list: &mut VecDeque<Entry>,
    first: usize,
    verdict: ServerDecision,
    busy: u32,
    done: &mut VecDeque<Released>,
) {
    let mut kept = 0;
    for _ in 0..first {
        let Some(mut entry) = list.pop_front() else { break };
        entry.left -= 1;
        if entry.left == 0 {
            done.push_back(Released::at_once(entry.id, verdict, busy));
        } else {
            list.push_back(entry);
            kept += 1;
        }
    }
    // The loop moved the unfinished entries to the end of the list. The rotation moves them back to the front.
    list.rotate_right(kept);
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
