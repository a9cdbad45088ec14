//! One run of a client against a simulated server, in virtual time instead of real time.

use loadgen_core::{OperationKind, Run};
use mockserver_core::Config;
use vocabulary::Instant;
use wire::ServerStats;

use crate::event_loop::{EventLoop, Steer};
use crate::simulated_server::SimulatedServer;

#[derive(Debug)]
pub struct Simulation {
    events: EventLoop<SimulatedServer>,
}

#[derive(Debug)]
pub struct Finished {
    pub run: Run,
    pub server: ServerStats,
}

impl Simulation {
    /// Creates a simulation of this client and of a server with this configuration, which should have passed
    /// [`Config::validate`]. `seed` is the run's seed, which every request carries. It determines the server's random
    /// draws for that request. It also determines the kinds and API keys of requests.
    pub fn new(client: Run, kind: OperationKind, seed: u64, server: Config) -> Self {
        Self::with_method(client, kind, seed, server, "GET")
    }

    pub fn with_method(client: Run, kind: OperationKind, seed: u64, server: Config, method: &str) -> Self {
        let server = SimulatedServer::new(kind, seed, server, &client, method);
        Self { events: EventLoop::new(client, server) }
    }

    /// Runs the simulation to its end. Calls `steer` periodically with the client and the current virtual time.
    pub fn run(self, mut steer: impl FnMut(&Run, Instant) -> Steer) -> Finished {
        self.run_steered(&mut steer)
    }

    /// This function is not generic, so that the event loop is compiled in this crate, which is optimised in every
    /// build profile.
    fn run_steered(self, steer: &mut dyn FnMut(&Run, Instant) -> Steer) -> Finished {
        let (run, mut server, now) = self.events.run(steer);
        Finished { run, server: server.stats(now) }
    }
}
