//! Driver in virtual time: executes runs concurrently on all cores, without waiting for a clock.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{ptr, thread};

use loadgen_core::{OperationKind, Run, SERIES_POINTS};
use loadgen_sim::{Simulation, Steer, least_costs, rate_law, side_by_side, with_delay_noise};
use mockserver::core::Config;
use results::{GeneratorResult, Mode, ResultContext, RunResult, SharedConfig, Warning};

use super::driver::{Driver, Outcome, Take, Task, Tasks, Watcher};
use super::stop::Stop;
use crate::load::Load;
use crate::record::config_record;
use crate::runs::one_run::{Finished, KeptLatencies, unfinished};
use crate::servers::server_under_test::ServerUnderTest;

/// Maximum number of points of all time series in a file, divided equally among its runs. Each run may always have at least 8 points. More
/// points would not be worth the space that they take.
const POINTS_OF_A_FILE: usize = 40_000;

/// Address space of a thread that simulates runs, besides its stack. The C library alone reserves as much.
const RUN_BYTES: usize = 64 << 20;

pub struct VirtualTime {
    /// Number of threads for which there is enough memory. With 0, the calling thread executes the runs.
    pub threads: usize,
}

impl VirtualTime {
    pub fn on_threads(asked: Option<u16>) -> Self {
        let threads =
            asked.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from);
        Self { threads: mockserver::threads_with_room(threads, RUN_BYTES) }
    }
}

impl Driver for VirtualTime {
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()> {
        let (mut failed, configs) = (None, Configs::default());
        let mut numbers = (0..).map(|place| tasks.number(place));
        side_by_side(
            tasks.to_execute(),
            self.threads,
            |place| {
                let number = tasks.number(place);
                one_run(&tasks.task(number), number, &configs, stop, watcher)
            },
            |over| {
                // After the first error, no further runs begin. Runs that have already begun still end, but their outcomes are dropped.
                if let (Some(outcome), None) = (over, &failed)
                    && let Some(number) = numbers.next()
                {
                    let taken = outcome.and_then(|outcome| {
                        watcher.on_over(number, &outcome);
                        take(number, outcome)
                    });
                    failed = taken.err();
                }
                watcher.on_tick();
                failed.is_none() && stop.asked_by().is_none()
            },
        );
        failed.map_or(Ok(()), Err)
    }
}

/// Recorded configurations, by the addresses of the experiment and the server. Runs that differ only in their seed share one.
#[derive(Default)]
pub struct Configs(Mutex<BTreeMap<[usize; 2], SharedConfig>>);

impl Configs {
    fn of(&self, task: &Task<'_>, server: &Config) -> SharedConfig {
        let addresses = [ptr::from_ref(task.experiment).addr(), ptr::from_ref(server).addr()];
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let config = known.entry(addresses).or_insert_with(|| {
            config_record(task.experiment, &task.server_under_test.record(true), task.seed).into()
        });
        config.with_seed(task.seed)
    }
}

/// Executes a run. `configs` must be new for every list of tasks.
pub fn one_run(
    task: &Task<'_>,
    number: usize,
    configs: &Configs,
    stop: &dyn Stop,
    watcher: &dyn Watcher,
) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    // A server given with `--target` is rejected, because its user expects real requests. This also applies to a mockserver, although a
    // mockserver has a known model and could be simulated.
    let ServerUnderTest::Own(server) = task.server_under_test else {
        anyhow::bail!("an existing server cannot be run in virtual time");
    };
    let Task { experiment, seed, .. } = *task;
    let attempts = watcher.attempts_of(number, seed)?;
    let mut config = experiment.for_server(Some(server), seed);
    config.exact_latencies = true;
    let kind = config.kind;
    let noisy = with_delay_noise(server, experiment.workload.delay_noise());
    let is_planned = noisy.is_plain_cap() && kind == OperationKind::Request;
    let schedule = || is_planned.then(|| noisy.oracle_schedule(seed, Duration::ZERO));
    let strategy = experiment.strategy_of_clients();
    let mut client = Run::new(config, |_| strategy.build(seed, schedule()), least_costs(server, seed))?;
    client.follow_law(rate_law(server));
    if let Some(sink) = attempts {
        client.record_samples(sink);
    }
    let noisy = Config { seed, ..noisy };
    let method = experiment.request.method.as_str();
    let simulated = Simulation::with_method(client, kind, seed, noisy, method).run(|run, now| {
        watcher.on_simulated(number, run, now);
        if stop.asked_by().is_some() { Steer::Stop } else { Steer::On }
    });
    let finished = result(task, server, configs.of(task, server), &simulated, stop.asked_by());
    let bins = simulated.run.measurements().bins.clone();
    Ok(Outcome { finished, bins, took: begun.elapsed() })
}

fn result(
    task: &Task<'_>,
    server: &Config,
    config: SharedConfig,
    simulated: &loadgen_sim::Finished,
    stopped_by: Option<&'static str>,
) -> Finished {
    let Task { experiment, seed, runs_of_file, .. } = *task;
    let conservation = simulated.run.conservation(Some(&simulated.server.counts));
    let result = RunResult::new(
        &experiment.strategy,
        &simulated.run,
        ResultContext {
            mode: Mode::Simulated,
            config,
            seed,
            load: Load::new(experiment, Some(server), Mode::Simulated).map(|load| load.record()),
            server: Some(simulated.server.clone()),
            generator: GeneratorResult::default(),
            started_at: None,
            wall_s: None,
            interrupted: stopped_by,
            warnings: warnings(&simulated.run, stopped_by),
            series_points: series_points(runs_of_file),
        },
    );
    let latencies = experiment.keep_latencies.then(|| Arc::new(KeptLatencies::new(&simulated.run)));
    Finished {
        result,
        conservation,
        generator_share: None,
        answered: true,
        last_arrived: None,
        bottleneck: false,
        latencies,
    }
}

/// Returns the maximum number of points of a time series in a file with this number of runs.
pub fn series_points(runs_of_file: u32) -> usize {
    let runs = usize::try_from(runs_of_file).unwrap_or(usize::MAX).max(1);
    (POINTS_OF_A_FILE / runs).clamp(8, SERIES_POINTS)
}

fn warnings(run: &Run, stopped_by: Option<&str>) -> Vec<String> {
    let tries = run.tries_without_time();
    let no_time_passes = (tries > 0).then_some(Warning::NoTimePasses(tries));
    let all = [unfinished(run, stopped_by), Warning::advised_wait(run), no_time_passes];
    all.into_iter().flatten().map(|warning| warning.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use loadgen_core::RunConfig;

    use super::*;
    use crate::experiment::Experiment;
    use crate::runs::driver::Nobody;
    use crate::runs::stop::Never;
    use crate::servers::server_under_test::GivenServer;
    use crate::servers::target::Server;

    #[test]
    fn a_mockserver_that_is_there_is_not_simulated() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let experiment = Experiment::of_run("none".parse().unwrap(), RunConfig::default());
        let server = Server::start(Config::default(), &experiment, &runtime).unwrap();
        let server_under_test = ServerUnderTest::Given(Arc::new(GivenServer::new(server, runtime, None)));
        assert!(server_under_test.model().is_some());
        let task =
            Task { experiment: &experiment, server_under_test: &server_under_test, seed: 1, runs_of_file: 1 };
        let error = one_run(&task, 0, &Configs::default(), &Never, &Nobody).err().unwrap();
        assert_eq!(error.to_string(), "an existing server cannot be run in virtual time");
    }
}
