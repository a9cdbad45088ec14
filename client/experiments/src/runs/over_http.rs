//! Driver that executes runs over HTTP, one after the other, in real time.

use std::time::{Duration, Instant};

use mockserver::core::Config;
use results::Warning;
use tokio::runtime::Runtime;

use super::driver::{Driver, Outcome, RealRun, Take, Task, Tasks, Watcher};
use super::stop::Stop;
use crate::runs::one_run;
use crate::servers::server_under_test::{ConnectionRoom, ServerUnderTest};
use crate::servers::target::Server;

/// Driver that sends real requests. The server either exists already or is started anew for each run. A new server is idle and has no
/// counts at the start of the run.
pub struct OverHttp {
    runtime: Runtime,
    files: Option<u64>,
}

impl OverHttp {
    pub fn new() -> anyhow::Result<Self> {
        let runtime = mockserver::runtime()?;
        Ok(Self { runtime, files: loadgen_http::raise_open_files() })
    }

    pub fn files(&self) -> Option<u64> {
        self.files
    }

    fn one_run(
        &self,
        task: &Task<'_>,
        number: usize,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
    ) -> anyhow::Result<Outcome> {
        let begun = Instant::now();
        let Task { experiment, server_under_test, seed, .. } = *task;
        let against = |server: &Server, room: ConnectionRoom, runtime: &Runtime| -> anyhow::Result<Outcome> {
            let attempts = watcher.attempts_of(number, seed)?;
            let underway = one_run::start(experiment, server, seed, room, attempts, server.age(runtime))?;
            stop.is_running(Some(underway.control.clone()));
            watcher.wait(number, &RealRun { underway: &underway, experiment, server, runtime });
            stop.is_running(None);
            let (mut finished, bins) = underway.finish(experiment, server, runtime, stop)?;
            let wall_s = finished.result.wall_s.unwrap_or_default();
            let wall = Duration::try_from_secs_f64(wall_s).unwrap_or_default();
            let held_up = Warning::held_up(watcher.held_up(number), wall);
            finished.result.warnings.extend(held_up.map(|warning| warning.to_string()));
            Ok(Outcome { finished, bins, took: begun.elapsed() })
        };
        match server_under_test {
            ServerUnderTest::Own(config) => {
                let config = Config { seed, ..(**config).clone() };
                let server = Server::start(config, experiment, &self.runtime)?;
                against(&server, ConnectionRoom::within(self.files, &server), &self.runtime)
            }
            ServerUnderTest::Given(given) => given.with_current(stop, against),
            ServerUnderTest::Past(_) => {
                anyhow::bail!("finished runs have no server that could run more tasks")
            }
        }
    }
}

impl Driver for OverHttp {
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()> {
        for number in (0..tasks.to_execute()).map(|place| tasks.number(place)) {
            if stop.asked_by().is_some() {
                break;
            }
            let outcome = self.one_run(&tasks.task(number), number, stop, watcher)?;
            watcher.on_over(number, &outcome);
            take(number, outcome)?;
        }
        Ok(())
    }
}
