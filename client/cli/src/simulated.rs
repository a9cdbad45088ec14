//! Runs in virtual time: one, or many side by side on all cores.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use loadgen_core::{OperationKind, Run, SERIES_POINTS, SampleSink};
use loadgen_sim::{Foresight, Simulation, Steer, least_costs};
use mockserver::core::{Config, Ideal};
use results::{GeneratorResult, Mode, ResultContext, RunResult};
use tailback::Foreknowledge;

use crate::interrupt::Interrupt;
use crate::kept_latencies::KeptLatencies;
use crate::one_run::{Finished, unfinished};
use crate::record::{ServerRecord, config_record};
use crate::settings::Settings;

/// Points of all series of a file together that are worth their space.
const POINTS_OF_A_FILE: usize = 40_000;

/// Simulates one run. `steer` is called now and then.
pub(crate) fn simulate(
    settings: &Settings,
    server: &Config,
    seed: u64,
    steer: impl FnMut(&Run, vocabulary::Instant) -> Steer,
) -> anyhow::Result<loadgen_sim::Finished> {
    simulate_with_samples(settings, server, seed, None, steer)
}

/// The same; every attempt goes to `samples`, if anybody wants them.
pub(crate) fn simulate_with_samples(
    settings: &Settings,
    server: &Config,
    seed: u64,
    samples: Option<SampleSink>,
    steer: impl FnMut(&Run, vocabulary::Instant) -> Steer,
) -> anyhow::Result<loadgen_sim::Finished> {
    let mut config = settings.for_server(Some(server), seed);
    config.exact_latencies = true;
    let kind = config.kind;
    let foreknowledge = || foreknowledge(server, kind, seed);
    let costs = least_costs(server, seed);
    let mut client = Run::new(config, |_| settings.strategy.build(seed, foreknowledge()), costs)?;
    if let Some(sink) = samples {
        client.record_samples(sink);
    }
    let server = Config { seed, ..server.clone() };
    Ok(Simulation::new(client, kind, seed, server).run(steer))
}

/// Perfect knowledge of this server, where there is a plan for it: of single requests against a plain cap.
fn foreknowledge(server: &Config, kind: OperationKind, seed: u64) -> Option<Box<dyn Foreknowledge>> {
    let plain = server.is_plain_cap() && kind == OperationKind::Request;
    plain.then(|| Box::new(Foresight(Ideal::new(server, seed))) as Box<dyn Foreknowledge>)
}

/// The result of a simulated run.
pub(crate) fn result(
    settings: &Settings,
    server: &Config,
    seed: u64,
    finished: &loadgen_sim::Finished,
    interrupt: &Interrupt,
) -> Finished {
    let conservation = finished.run.conservation(Some(&finished.server.counts));
    let record = ServerRecord { kind: "simulated".to_owned(), target: None, model: Some(server) };
    let repeats = usize::try_from(settings.repeats).unwrap_or(usize::MAX);
    let result = RunResult::new(
        &settings.strategy,
        &finished.run,
        ResultContext {
            mode: Mode::Simulated,
            config: config_record(settings, &record, seed),
            seed,
            server: Some(finished.server),
            generator: GeneratorResult::default(),
            started_at: None,
            wall_s: None,
            interrupted: interrupt.cause(),
            warnings: unfinished(&finished.run, interrupt).into_iter().collect(),
            series_points: (POINTS_OF_A_FILE / repeats).clamp(8, SERIES_POINTS),
        },
    );
    let latencies = settings.keep_latencies.then(|| Arc::new(KeptLatencies::of(&finished.run)));
    Finished { result, conservation, generator_share: None, answered: true, bottleneck: false, latencies }
}

/// One core each, unless told otherwise.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
}
