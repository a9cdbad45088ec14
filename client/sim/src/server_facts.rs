//! Facts about a mockserver for the client core: the minimum costs of a successful op, for the lower bound on the makespan, and the
//! server's rate-limiting algorithm. Also noise on the network's delays.

use std::sync::Arc;
use std::time::Duration;

use loadgen_core::SteadyRate;
use mockserver_core::Config;
use vocabulary::{Distribution, Instant};

/// Returns the minimum costs of a successful op at the given server, for a run with the given seed. The client computes its lower bound on
/// the makespan from these costs. Returns `None` if no bound is proven.
pub fn least_costs(server: &Config, seed: u64) -> Option<Arc<dyn loadgen_core::LeastCosts>> {
    let costs = mockserver_core::LeastCosts::new(server, seed)?;
    Some(Arc::new(Costs(costs)))
}

/// Returns the server's rate-limiting algorithm, which the client's measurements use. Returns `None` unless the server's policy consists of
/// a single rate-limiting algorithm.
pub fn rate_law(server: &Config) -> Option<loadgen_core::RateLaw> {
    let mockserver_core::RateLaw { pace, steady } = server.rate_law()?;
    let steady = steady.map(|(requests, per)| SteadyRate { requests, per });
    Some(loadgen_core::RateLaw { pace: Box::new(OfServer(pace)), steady })
}

/// Adapter for the minimum costs of a success, between the client crate and the server crate, which must not depend on
/// each other.
#[derive(Debug)]
struct Costs(mockserver_core::LeastCosts);

#[derive(Clone, Debug)]
struct OfServer(mockserver_core::Pace);

impl loadgen_core::Pace for OfServer {
    fn next(&mut self, from: Instant) -> Option<Instant> {
        self.0.next(from)
    }

    fn another(&self) -> Box<dyn loadgen_core::Pace> {
        Box::new(self.clone())
    }
}

impl loadgen_core::LeastCosts for Costs {
    fn slots(&self) -> Option<u32> {
        self.0.slots()
    }

    fn paces(&self) -> Vec<Box<dyn loadgen_core::Pace>> {
        self.0
            .paces()
            .into_iter()
            .map(|pace| Box::new(OfServer(pace)) as Box<dyn loadgen_core::Pace>)
            .collect()
    }

    fn slots_vary(&self) -> bool {
        self.0.slots_vary()
    }

    fn request_delay(&self) -> Duration {
        self.0.request_delay()
    }

    fn response_delay(&self) -> Duration {
        self.0.response_delay()
    }

    fn min_service(&self) -> Duration {
        self.0.min_service()
    }

    fn service(&self, op: u64) -> Duration {
        self.0.service(op)
    }
}

/// Returns the server configuration with a random addition of up to `noise` to constant network and return delays. A constant network delay
/// gets noise even if it is zero. A constant return delay gets noise only if it is not zero. Random delays are unchanged.
///
/// A delay with noise is uniformly distributed. Like every other random value, it is determined by seed, op and attempt. Its minimum is the
/// constant delay, so the lower bound on the makespan is unchanged.
#[must_use]
pub fn with_delay_noise(server: &Config, noise: Duration) -> Config {
    let varied = |way: Distribution| match way {
        Distribution::Constant(low) if !noise.is_zero() => {
            Distribution::Uniform { low, high: low.saturating_add(noise) }
        }
        unchanged => unchanged,
    };
    let return_delay = server.return_delay;
    Config {
        network_delay: varied(server.network_delay),
        return_delay: if return_delay.is_zero() { return_delay } else { varied(return_delay) },
        ..server.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_costs;

    const NOISE: Duration = Duration::from_micros(200);

    /// Returns both delays of the server with noise, in text form.
    fn ways(network_delay: &str, return_delay: &str, noise: Duration) -> [String; 2] {
        let way = |text: &str| text.parse().unwrap();
        let server = Config {
            network_delay: way(network_delay),
            return_delay: way(return_delay),
            ..Config::default()
        };
        let varied = with_delay_noise(&server, noise);
        assert_eq!(varied.validate(), Ok(()));
        [varied.network_delay, varied.return_delay].map(|way| way.to_string())
    }

    #[test]
    fn noise_lengthens_only_constant_delays() {
        assert_eq!(ways("100ms", "0s", NOISE), ["uniform(100ms,100ms 200us)", "0s"]);
        assert_eq!(ways("0s", "20ms", NOISE), ["uniform(0s,200us)", "uniform(20ms,20ms 200us)"]);
        assert_eq!(ways("exp(5ms)", "normal(5ms,1ms)", NOISE), ["exp(5ms)", "normal(5ms,1ms)"]);
    }

    #[test]
    fn without_noise_every_way_is_exact() {
        assert_eq!(ways("100ms", "20ms", Duration::ZERO), ["100ms", "20ms"]);
    }

    #[test]
    fn the_lower_bound_is_that_of_the_constant_ways() {
        let server = Config { return_delay: Distribution::millis(20), ..Config::default() };
        let ways = |server: &Config| {
            let costs = least_costs(server, 1).unwrap();
            (costs.request_delay(), costs.response_delay())
        };
        assert_eq!(ways(&with_delay_noise(&server, NOISE)), ways(&server));
    }
}
