//! Lower bounds on the cost of a successful op, at a server with slots or rate limits. The bounds hold for any client.

use std::time::Duration;

use crate::request::service_time;
use crate::{Config, Pace};

/// Lower bounds on the cost of each successful op. The bounds also hold with lost messages, outages and rejected first attempts, because
/// these only make attempts fail.
#[derive(Clone, Debug)]
pub struct LeastCosts {
    config: Config,
    slots: Option<u32>,
    paces: Vec<Pace>,
    seed: u64,
}

impl LeastCosts {
    /// Computes the bounds for the run with this seed. Returns `None` if neither the number of requests in service nor their rate is
    /// limited by a known bound. If a schedule changes the cap, the bounds are computed with the highest cap.
    pub fn new(config: &Config, seed: u64) -> Option<Self> {
        let slots = config.max_in_service();
        let paces = config.paces();
        (slots.is_some() || !paces.is_empty()).then(|| Self { config: config.clone(), slots, paces, seed })
    }

    pub fn slots(&self) -> Option<u32> {
        self.slots
    }

    pub fn slots_vary(&self) -> bool {
        !self.config.schedule.is_empty()
    }

    /// Returns a separate bound for each rate limit: the earliest times at which the limit can admit requests.
    pub fn paces(&self) -> Vec<Pace> {
        self.paces.clone()
    }

    /// Returns the minimum network delay of a request from the client to admission. Each attempt draws its own delay, so only the smallest
    /// possible draw is certain.
    pub fn request_delay(&self) -> Duration {
        self.config.network_delay.least()
    }

    pub fn response_delay(&self) -> Duration {
        self.config.return_delay.least()
    }

    pub fn min_service(&self) -> Duration {
        self.config.service_time.least()
    }

    pub fn service(&self, op: u64) -> Duration {
        service_time(&self.config.service_time, self.seed, op)
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Distribution;

    use super::*;

    #[test]
    fn services_are_known_by_op_and_ways_by_their_least_draw() {
        let service_time = "uniform(100ms,200ms)".parse().unwrap();
        let network_delay = Distribution::Exponential { mean: Duration::from_millis(10) };
        let config = Config { service_time, network_delay, ..Config::default() };
        let costs = LeastCosts::new(&config, 7).unwrap();
        assert_eq!(
            (costs.slots(), costs.request_delay(), costs.response_delay()),
            (Some(50), Duration::ZERO, Duration::ZERO)
        );
        assert_eq!(costs.min_service(), Duration::from_millis(100));
        assert!(costs.service(3) >= costs.min_service());
        assert_ne!(costs.service(3), costs.service(4));
    }

    #[test]
    fn a_server_without_slots_or_with_changing_ones_has_none() {
        let policy = "overwhelmed-queue".parse().unwrap();
        assert!(LeastCosts::new(&Config { policy, ..Config::default() }, 1).is_none());
        let caps = "10s=25".parse().unwrap();
        assert!(LeastCosts::new(&Config { caps, ..Config::default() }, 1).is_none());
        let with_schedule = |schedule: &str| {
            let schedule = schedule.parse().unwrap();
            LeastCosts::new(&Config { schedule, ..Config::default() }, 1).and_then(|costs| costs.slots())
        };
        assert_eq!(with_schedule("10s max-busy=25; 20s..30s max-busy=5..40"), Some(50));
        assert_eq!(with_schedule("0s max-busy=25; 20s.. max-busy=30+10*sin(1s)"), Some(40));
        assert_eq!(with_schedule("10s down"), Some(50));
        let policies = |policy: &str, schedule: &str| {
            let (policy, schedule) = (policy.parse().unwrap(), schedule.parse().unwrap());
            let costs = LeastCosts::new(&Config { policy, schedule, ..Config::default() }, 1);
            costs.map(|costs| (costs.slots(), costs.paces().len()))
        };
        let stack = "token-bucket then gcra then concurrency:cap=5";
        assert_eq!(policies(stack, ""), Some((Some(5), 2)));
        assert_eq!(policies(stack, "1s gcra.rate=500/s"), Some((Some(5), 1)));
        assert_eq!(policies(stack, "1s concurrency.cap=6; 2s concurrency.queue=3"), Some((None, 2)));
        assert_eq!(policies("gcra", "0s.. gcra.rate=5+3*sin(1s)"), None);
        for serving in ["overwhelmed-queue", "descriptor-pool"] {
            assert_eq!(policies(&format!("token-bucket then {serving}"), ""), None, "services of its own");
        }
        assert!(LeastCosts::new(&Config { loss: 0.5, reject_first: 3, ..Config::default() }, 1).is_some());
    }
}
