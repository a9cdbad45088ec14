//! Schedule of the oracle, a client that knows the server's configuration. The schedule contains the time at which each op is sent. If
//! service times are random, this schedule is not optimal, because another order of the ops may finish sooner.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use vocabulary::{Instant, OracleSchedule};

use crate::request::service_time;
use crate::{Config, Request, RequestId, Step};

impl Config {
    /// Returns the oracle's schedule for the run with this seed. The schedule is meaningful only for a server with a [plain
    /// cap](Self::is_plain_cap). It assumes that ops are served in the order of their arrivals, with as many slots as the cap allows. It
    /// uses the exact times that the server will draw. `margin` is added to every start that has to wait for a slot, because sending is
    /// never exactly on time.
    ///
    /// Clients send ops in the order of their arrivals, so no op is scheduled before its predecessor. An op with a shorter network delay
    /// may still reach the server before its predecessor. This does not matter, because a slot is reserved for each op from its arrival at
    /// the server to its end.
    pub fn oracle_schedule(&self, seed: u64, margin: Duration) -> OracleSchedule {
        let config = self.clone();
        // Instants at which the slots used so far become free. There are at most as many slots as the cap allows.
        let mut slots = BinaryHeap::new();
        let mut last_sent = Instant::ORIGIN;
        OracleSchedule::new(move |op, arrival| {
            let network = request(seed, op).network_delay(&config.network_delay);
            let earliest = arrival.max(last_sent);
            let reach = earliest + network;
            let free = if slots.len() < config.max_busy as usize {
                None
            } else {
                slots.pop().map(|Reverse(free)| free)
            };
            let start = match free {
                Some(free) if free > reach => free + margin,
                _ => reach,
            };
            slots.push(Reverse(start + service_time(&config.service_time, seed, op)));
            let send_at = Instant::ORIGIN + start.since_origin().saturating_sub(network);
            last_sent = send_at.max(earliest);
            last_sent
        })
    }
}

fn request(seed: u64, op: u64) -> Request {
    Request { id: RequestId(0), run: None, seed, op, attempt: 1, step: Step::Work }
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
        let mut schedule = config.oracle_schedule(1, Duration::ZERO);
        assert_eq!(schedule.send_at(0, ms(0)), ms(0));
        assert_eq!(schedule.send_at(1, ms(10)), ms(10));
        assert_eq!(schedule.send_at(2, ms(20)), ms(500));
        assert_eq!(schedule.send_at(3, ms(5000)), ms(5000));
    }

    #[test]
    fn ops_are_sent_in_order_and_none_takes_the_slot_of_another() {
        let network_delay = Distribution::Uniform { low: Duration::ZERO, high: Duration::from_millis(900) };
        let config = Config { max_busy: 3, network_delay, ..Config::default() };
        let mut schedule = config.oracle_schedule(1, Duration::ZERO);
        let sent: Vec<Instant> = (0..200).map(|op| schedule.send_at(op, ms(20 * op))).collect();
        assert!(sent.is_sorted());
        let service = Duration::from_millis(500);
        let delay = |op| request(1, op).network_delay(&config.network_delay);
        let starts: Vec<Instant> = (0..).zip(sent).map(|(op, sent)| sent + delay(op)).collect();
        let in_service =
            |at: Instant| starts.iter().filter(|start| **start <= at && at < **start + service).count();
        assert!(starts.iter().all(|start| in_service(*start) <= 3));
    }

    #[test]
    fn a_margin_is_added_only_to_starts_that_wait() {
        let config = Config { max_busy: 1, ..Config::default() };
        let mut schedule = config.oracle_schedule(1, Duration::from_millis(2));
        assert_eq!(schedule.send_at(0, ms(0)), ms(0));
        assert_eq!(schedule.send_at(1, ms(0)), ms(502));
    }
}
