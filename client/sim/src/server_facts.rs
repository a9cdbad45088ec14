//! Facts about a mockserver for the client core: what success costs there, for the lower bound, and its law about rates.

use std::sync::Arc;
use std::time::Duration;

use loadgen_core::SteadyRate;
use mockserver_core::Config;
use vocabulary::Instant;

/// What success costs at least at this server in the run with this seed, as the client's lower bound is given it; `None`
/// where nothing is proven.
pub fn least_costs(server: &Config, seed: u64) -> Option<Arc<dyn loadgen_core::LeastCosts>> {
    let costs = mockserver_core::LeastCosts::of(server, seed)?;
    Some(Arc::new(Costs(costs)))
}

/// What this server lets pass, where it is one law about rates, as the client's measures are given it.
pub fn rate_law(server: &Config) -> Option<loadgen_core::RateLaw> {
    let mockserver_core::RateLaw { pace, steady } = server.rate_law()?;
    let steady = steady.map(|(requests, per)| SteadyRate { requests, per });
    Some(loadgen_core::RateLaw { pace: Box::new(OfServer(pace)), steady })
}

/// Both crates are to know nothing of one another.
#[derive(Debug)]
struct Costs(mockserver_core::LeastCosts);

/// The same of a pace.
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

    fn way_there(&self) -> Duration {
        self.0.way_there()
    }

    fn way_back(&self) -> Duration {
        self.0.way_back()
    }

    fn least_service(&self) -> Duration {
        self.0.least_service()
    }

    fn service(&self, op: u64) -> Duration {
        self.0.service(op)
    }
}
