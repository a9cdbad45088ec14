//! Facts about a mockserver for the client core: the minimum costs of a successful op, for the lower bound on the makespan, and the
//! server's rate-limiting algorithm.

use std::sync::Arc;
use std::time::Duration;

use loadgen_core::SteadyRate;
use mockserver_core::Config;
use vocabulary::Instant;

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
