//! A plan by someone who knows the server: what the oracle follows. With random service times it is no optimum, for another
//! order may be sooner done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use vocabulary::Instant;

use crate::config::Config;
use crate::request::{Request, RequestId, Step, service_time};

/// First come, first served with as many slots as the cap allows, over the very times that the server will draw.
///
/// Clients send ops in the order of their arrivals, so no op is planned to be sent before the one before it. An op whose way is shorter may
/// still reach the server first. That takes no slot from another op, because every op has a slot of its own from the instant at which it
/// reaches the server to the end of its service.
#[derive(Debug)]
pub struct Ideal {
    config: Config,
    seed: u64,
    margin: Duration,
    /// When each slot in use so far frees; there are never more than the cap.
    slots: BinaryHeap<Reverse<Instant>>,
    /// Instant at which the latest planned op is sent.
    last_sent: Instant,
}

/// When to send an op, and when its success comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The instant to send it at; never before its arrival, nor before the op before it is sent.
    pub send_at: Instant,
    /// The instant of its success.
    pub finish: Instant,
}

impl Ideal {
    /// The plan for this server in the run with this seed; it means something for a [plain
    /// cap](Config::is_plain_cap) only.
    pub fn new(config: &Config, seed: u64) -> Self {
        Self {
            config: config.clone(),
            seed,
            margin: Duration::ZERO,
            slots: BinaryHeap::new(),
            last_sent: Instant::ORIGIN,
        }
    }

    /// Adds a margin to every start that has to wait for a slot: in real time nothing is exact.
    #[must_use]
    pub fn with_margin(mut self, margin: Duration) -> Self {
        self.margin = margin;
        self
    }

    /// Plans an op; ops are planned in the order of their arrivals, each once.
    pub fn plan(&mut self, op: u64, arrival: Instant) -> Plan {
        let request =
            Request { id: RequestId(0), run: None, seed: self.seed, op, attempt: 1, step: Step::Work };
        let network = request.network_delay(&self.config.network_delay);
        let earliest = arrival.max(self.last_sent);
        let reach = earliest + network;
        let free = if self.slots.len() < self.config.max_busy as usize {
            None
        } else {
            self.slots.pop().map(|Reverse(free)| free)
        };
        let start = match free {
            Some(free) if free > reach => free + self.margin,
            _ => reach,
        };
        let served = start + service_time(&self.config.service_time, self.seed, op);
        self.slots.push(Reverse(served));
        let finish = served + request.return_delay(&self.config.return_delay);
        let send_at = Instant::ORIGIN + start.since_origin().saturating_sub(network);
        self.last_sent = send_at.max(earliest);
        Plan { send_at: self.last_sent, finish }
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Distribution;

    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn ops_go_at_once_while_slots_are_free_and_then_just_in_time() {
        let config = Config { max_busy: 2, ..Config::default() };
        let mut ideal = Ideal::new(&config, 1);
        assert_eq!(ideal.plan(0, ms(0)), Plan { send_at: ms(0), finish: ms(600) });
        assert_eq!(ideal.plan(1, ms(10)), Plan { send_at: ms(10), finish: ms(610) });
        assert_eq!(ideal.plan(2, ms(20)), Plan { send_at: ms(500), finish: ms(1100) });
        assert_eq!(ideal.plan(3, ms(5000)), Plan { send_at: ms(5000), finish: ms(5600) });
    }

    #[test]
    fn no_op_is_sent_before_the_one_before_it_and_none_takes_the_slot_of_another() {
        let network_delay = Distribution::Uniform { low: Duration::ZERO, high: Duration::from_millis(900) };
        let config = Config { max_busy: 3, network_delay, ..Config::default() };
        let mut ideal = Ideal::new(&config, 1);
        let plans: Vec<Plan> = (0..200).map(|op| ideal.plan(op, ms(20 * op))).collect();
        assert!(plans.is_sorted_by_key(|plan| plan.send_at));
        let service = Duration::from_millis(500);
        let starts: Vec<Instant> = plans
            .iter()
            .map(|plan| Instant::ORIGIN + (plan.finish.since_origin().saturating_sub(service)))
            .collect();
        let in_service =
            |at: Instant| starts.iter().filter(|start| **start <= at && at < **start + service).count();
        assert!(starts.iter().all(|start| in_service(*start) <= 3));
    }

    #[test]
    fn a_margin_is_added_only_to_starts_that_wait() {
        let config = Config { max_busy: 1, ..Config::default() };
        let mut ideal = Ideal::new(&config, 1).with_margin(Duration::from_millis(2));
        assert_eq!(ideal.plan(0, ms(0)).send_at, ms(0));
        assert_eq!(ideal.plan(1, ms(0)).send_at, ms(502));
    }
}
