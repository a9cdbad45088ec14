//! One run over HTTP, mostly against a mock server of its own: how scenarios, parity and comparisons use real time.

use std::time::Duration;

use loadgen_core::{Bins, SampleSink};
use mockserver::core::Config;
use tokio::runtime::Runtime;

use crate::connection_room::ConnectionRoom;
use crate::interrupt::Interrupt;
use crate::one_run::{self, Finished, Underway};
use crate::settings::Settings;
use crate::target::Server;

/// What several such runs share.
pub(crate) struct OwnServer {
    runtime: Runtime,
    files: Option<u64>,
}

impl OwnServer {
    /// Raises the limit on open files and starts the runtime that servers are asked on.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, files: loadgen_http::raise_open_files() })
    }

    /// What servers are asked on.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Does one run; `waiting` is called at once and then now and again while it goes on, and may look into it. Every attempt
    /// goes to `samples`, if anybody wants them. Gives the calls in bins, too, if the settings ask for them.
    ///
    /// # Errors
    /// When the server cannot be started, or counts do not add up.
    pub(crate) fn run(
        &self,
        settings: &Settings,
        server: &Config,
        seed: u64,
        samples: Option<SampleSink>,
        interrupt: &Interrupt,
        waiting: impl FnMut(&Underway),
    ) -> anyhow::Result<(Finished, Option<Bins>)> {
        let config = Config { seed, ..server.clone() };
        let server = Server::start(config, settings, &self.runtime)?;
        self.run_against(&server, settings, seed, samples, interrupt, waiting)
    }

    /// The same against a server that is there.
    pub(crate) fn run_against(
        &self,
        server: &Server,
        settings: &Settings,
        seed: u64,
        samples: Option<SampleSink>,
        interrupt: &Interrupt,
        mut waiting: impl FnMut(&Underway),
    ) -> anyhow::Result<(Finished, Option<Bins>)> {
        let room = ConnectionRoom::within(self.files, server);
        let underway = one_run::start(settings, server, seed, room, samples)?;
        interrupt.watch(Some(underway.control.clone()));
        waiting(&underway);
        while underway.over.recv_timeout(Duration::from_millis(200)).is_err() && !underway.is_over() {
            waiting(&underway);
        }
        interrupt.watch(None);
        let (finished, bins) = underway.finish_with_bins(settings, server, &self.runtime, interrupt)?;
        finished.sound(seed)?;
        Ok((finished, bins))
    }
}
