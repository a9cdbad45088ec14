//! Driver that executes runs over HTTP, one after the other, in real time.

use std::time::{Duration, Instant};

use mockserver::core::Config;
use results::Warning;
use tokio::runtime::Runtime;

use super::driver::{Driver, Outcome, RealRun, Task, Tasks, Watcher};
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
    ) -> anyhow::Result<Option<Outcome>> {
        let begun = Instant::now();
        match task.server_under_test {
            ServerUnderTest::Own(config) => {
                let config = Config { seed: task.seed, ..(**config).clone() };
                let server = Server::start(config, task.experiment, &self.runtime)?;
                let room = ConnectionRoom::within(self.files, &server);
                against(&server, room, &self.runtime, task, number, begun, stop, watcher)
            }
            ServerUnderTest::Given(given) => given.with_current(stop, |server, room, runtime| {
                against(server, room, runtime, task, number, begun, stop, watcher)
            }),
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
        take: &mut dyn FnMut(usize, Outcome) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for number in (0..tasks.to_execute()).map(|place| tasks.number(place)) {
            if stop.asked_by().is_some() {
                break;
            }
            let Some(outcome) = self.one_run(&tasks.task(number), number, stop, watcher)? else { break };
            watcher.on_over(number, &outcome);
            take(number, outcome)?;
        }
        Ok(())
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "a run needs all of these values, and both callers are just above"
)]
fn against(
    server: &Server,
    room: ConnectionRoom,
    runtime: &Runtime,
    task: &Task<'_>,
    number: usize,
    begun: Instant,
    stop: &dyn Stop,
    watcher: &dyn Watcher,
) -> anyhow::Result<Option<Outcome>> {
    let attempts = watcher.attempts_of(number, task.seed)?;
    let age = server.age(runtime);
    let underway = one_run::start(task.experiment, server, task.seed, room, attempts, age)?;
    stop.is_running(Some(underway.control.clone()));
    watcher.wait(number, &RealRun { underway: &underway, experiment: task.experiment, server, runtime });
    stop.is_running(None);
    let (mut finished, bins) = underway.finish(task.experiment, server, runtime, stop)?;
    let wall = Duration::try_from_secs_f64(finished.result.wall_s.unwrap_or_default()).unwrap_or_default();
    let held_up = Warning::held_up(watcher.held_up(number), wall);
    finished.result.warnings.extend(held_up.map(|warning| warning.to_string()));
    Ok(Some(Outcome { finished, bins, took: begun.elapsed() }))
}
