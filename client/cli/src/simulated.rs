//! Runs in virtual time: one, or many side by side on all cores.

use std::io::{self, IsTerminal, Write};
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use loadgen_core::{
    GeneratorResult, OperationKind, ResultContext, Run, RunResult, SERIES_POINTS, SampleSink, Snapshot,
};
use loadgen_sim::{Foresight, Simulation, Steer, least_costs};
use mockserver::core::{Config, Ideal};
use tailback::Foreknowledge;

use crate::interrupt::Interrupt;
use crate::kept_latencies::KeptLatencies;
use crate::one_run::{Finished, unfinished};
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
            mode: "simulated",
            config: ConfigRecord::new(settings, &record, seed),
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
    let latencies = settings.keep_latencies.then(|| KeptLatencies::of(&finished.run));
    Finished { result, conservation, generator_share: None, answered: true, bottleneck: false, latencies }
}

/// One core each, unless told otherwise.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
}

/// Says now and then how far something long is: on a terminal in one line that is always of now; elsewhere in few lines,
/// each twice as late as the one before.
pub(crate) struct Live {
    wanted: bool,
    terminal: bool,
    started: Instant,
    next: Instant,
    drawn: bool,
}

impl Live {
    pub(crate) fn new(wanted: bool) -> Self {
        let terminal = io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        let started = Instant::now();
        let next = started + Duration::from_millis(if terminal { 300 } else { 2_000 });
        Self { wanted, terminal, started, next, drawn: false }
    }

    /// Says this if it is time to.
    pub(crate) fn line(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.wanted || now < self.next {
            return;
        }
        if self.terminal {
            self.next = now + Duration::from_millis(200);
            self.drawn = true;
            // Short enough for every terminal: a line that wraps could not be taken back.
            let line: String = line().chars().take(78).collect();
            drop(write!(io::stderr().lock(), "{ANEW}{line}"));
        } else {
            self.next = now + (now - self.started);
            print(&line());
        }
    }
}

/// The beginning of the line, with nothing left of what was there.
const ANEW: &str = "\r\u{1b}[2K";

impl Drop for Live {
    fn drop(&mut self) {
        if self.drawn {
            drop(write!(io::stderr().lock(), "{ANEW}"));
        }
    }
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
