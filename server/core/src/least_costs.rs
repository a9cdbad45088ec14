//! What the success of an op costs at least, at a server with slots or limits of rates, whatever its client does.

use std::time::Duration;

use crate::config::Config;
use crate::pace::Pace;
use crate::request::service_time;

/// What every success costs at least. It stays true when messages are lost, when the server is down now and then and
/// when it rejects first attempts: all that only turns attempts away.
#[derive(Clone, Debug)]
pub struct LeastCosts {
    config: Config,
    slots: Option<u32>,
    paces: Vec<Pace>,
    seed: u64,
}

impl LeastCosts {
    /// The costs at this server in the run with this seed; `None` when nothing always bounds by the same number how
    /// many it serves at once, nor how soon they pass.
    pub fn of(config: &Config, seed: u64) -> Option<Self> {
        let slots = config.most_in_service();
        let paces = config.policy.paces();
        (slots.is_some() || !paces.is_empty()).then(|| Self { config: config.clone(), slots, paces, seed })
    }

    /// Most requests in service at once, where that is bounded.
    pub fn slots(&self) -> Option<u32> {
        self.slots
    }

    /// How soon requests pass the limits of rates: all of them bound, each for itself.
    pub fn paces(&self) -> Vec<Pace> {
        self.paces.clone()
    }

    /// No attempt reaches admission sooner. Each attempt draws anew, so that only the least of all draws is certain.
    pub fn way_there(&self) -> Duration {
        self.config.network_delay.least()
    }

    /// No answer comes back sooner.
    pub fn way_back(&self) -> Duration {
        self.config.return_delay.least()
    }

    /// No service is shorter.
    pub fn least_service(&self) -> Duration {
        self.config.service_time.least()
    }

    /// How long the service of this op takes: the same for each of its attempts.
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
        let costs = LeastCosts::of(&config, 7).unwrap();
        assert_eq!(
            (costs.slots(), costs.way_there(), costs.way_back()),
            (Some(50), Duration::ZERO, Duration::ZERO)
        );
        assert_eq!(costs.least_service(), Duration::from_millis(100));
        assert!(costs.service(3) >= costs.least_service());
        assert_ne!(costs.service(3), costs.service(4));
    }

    #[test]
    fn a_server_without_slots_or_with_changing_ones_has_none() {
        let policy = "overwhelmed-queue".parse().unwrap();
        assert!(LeastCosts::of(&Config { policy, ..Config::default() }, 1).is_none());
        let caps = "10s=25".parse().unwrap();
        assert!(LeastCosts::of(&Config { caps, ..Config::default() }, 1).is_none());
        assert!(LeastCosts::of(&Config { loss: 0.5, reject_first: 3, ..Config::default() }, 1).is_some());
    }
}
