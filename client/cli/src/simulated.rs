//! Runs in virtual time: one, or many side by side on all cores.

use std::io::{self, Write};
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use loadgen_core::{
    GeneratorResult, OperationKind, ResultContext, Run, RunResult, SERIES_POINTS, SampleSink, Snapshot,
};
use loadgen_sim::{Foresight, Simulation, Steer};
use mockserver::core::{Config, Ideal};
use tailback::Foreknowledge;

use crate::hdr_log::KeptLatencies;
use crate::interrupt::Interrupt;
use crate::one_run::Finished;
use crate::record::{ConfigRecord, ServerRecord};
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
    let mut client = Run::new(config, |_| settings.strategy.build(seed, foreknowledge()), foreknowledge())?;
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
            mode: "simulated",
            config: ConfigRecord::new(settings, &record, seed),
            seed,
            server: Some(finished.server),
            generator: GeneratorResult::default(),
            wall_s: None,
            interrupted: interrupt.exit().and_then(crate::exit::Exit::signal_name),
            warnings: Vec::new(),
            series_points: (POINTS_OF_A_FILE / repeats).clamp(8, SERIES_POINTS),
        },
    );
    let latencies = settings.keep_latencies.then(|| KeptLatencies::of(&finished.run));
    Finished { result, conservation, generator_share: None, answered: true, bottleneck: false, latencies }
}

/// One core each, unless told otherwise.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
}

/// Says once a second how far a simulation is.
pub(crate) struct Progress {
    /// When the next line is due; `None` when nobody wants any.
    next: Option<Instant>,
    /// What was said last: a log does not need it twice.
    last: String,
    snapshot: Snapshot,
}

impl Progress {
    /// Lines on stderr from the second second on, if they are wanted at all.
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            next: wanted.then(|| Instant::now() + Duration::from_secs(1)),
            last: String::new(),
            snapshot: Snapshot::default(),
        }
    }

    /// Prints this line if one is due.
    pub(crate) fn line(&mut self, line: impl FnOnce() -> String) {
        if self.due() {
            let line = line();
            if line != self.last {
                print(&line);
                self.last = line;
            }
        }
    }

    /// Prints how far a run is if a line is due.
    pub(crate) fn run(&mut self, run: &Run, now: vocabulary::Instant) {
        if self.due() {
            run.snapshot(now, &mut self.snapshot);
            print(&dashboards::progress_line(&self.snapshot, 120));
        }
    }

    fn due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.next.is_some_and(|next| next <= now);
        if due {
            self.next = Some(now + Duration::from_secs(1));
        }
        due
    }
}

fn print(line: &str) {
    // A closed stderr must not stop the run.
    drop(writeln!(io::stderr().lock(), "{line}"));
}
