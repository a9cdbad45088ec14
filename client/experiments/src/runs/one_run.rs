//! One run over HTTP: its setup, its execution on a thread of its own, its observation, and checks of its counts.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow};
use hdrhistogram::serialization::{Serializer, V2Serializer};
use loadgen_core::{
    Bins, Classifier, Conservation, LowerBound, Measurements, OperationKind, Run, RunConfig, SERIES_POINTS,
    SampleSink, Snapshot,
};
use loadgen_http::{
    Control, DriveError, DriveOptions, DriveReport, RunHeaders, SearchedBodies, Target, TransportConfig,
    peak_rss_bytes,
};
use results::{
    Bottleneck, GeneratorLoad, GeneratorResult, Mode, ResultContext, RunResult, Warning, is_about_machine,
};
use tokio::runtime::Runtime;
use vocabulary::WallTime;
use wire::{RunId, ServerStats};

use crate::error::{Error, ErrorKind, words_of};
use crate::experiment::Experiment;
use crate::load::Load;
use crate::record::config_record;
use crate::runs::stop::{Stop, unless_stopped};
use crate::servers::server_under_test::ConnectionRoom;
use crate::servers::target::Server;

/// Real time by which the oracle (a strategy that follows an optimal schedule) delays a planned start that waits for a server slot. Shorter
/// times cannot be distinguished from noise of timers and threads.
const ORACLE_MARGIN: Duration = Duration::from_millis(2);

/// Maximum number of connections that are opened before a run.
const WARM_CONNECTIONS: f64 = 128.0;

/// Lower bound on the makespan: the minimum time in which any client could complete the planned ops. It is computed when it is first shown.
/// `None` if it cannot be computed before the run.
#[derive(Clone)]
pub struct PlannedBound(Arc<LazyLock<Option<Duration>, Compute>>);

type Compute = Box<dyn FnOnce() -> Option<Duration> + Send>;

impl PlannedBound {
    /// A very long run has no bound, because the computation would take too long.
    fn new(config: RunConfig, server: &Server) -> Self {
        const WORTH_THE_TIME: u64 = 1_000_000;
        let costs = server.least_costs(config.seed);
        let bound = move || LowerBound::planned(&config, costs?, WORTH_THE_TIME);
        Self(Arc::new(LazyLock::new(Box::new(bound))))
    }

    /// Adds the lower bound on the makespan to a snapshot of the run. The bound is left out once an event has occurred in the run for which
    /// the bound is not proven.
    pub fn tell(&self, snapshot: &mut Snapshot) {
        snapshot.optimal_makespan = self.0.filter(|_| snapshot.bound_holds);
    }
}

pub struct Underway {
    pub control: Arc<Control>,
    pub over: Receiver<()>,
    pub bound: PlannedBound,
    thread: std::thread::JoinHandle<anyhow::Result<Driven>>,
    room: ConnectionRoom,
    searched: Arc<SearchedBodies>,
    id: RunId,
    seed: u64,
    started_at: String,
    last_head: Arc<AtomicU16>,
}

struct Driven {
    run: Run,
    report: DriveReport,
}

pub struct Finished {
    pub result: RunResult,
    pub conservation: Conservation,
    /// Time for which the generator's busiest thread ran or waited for a processor, as a share of the run's duration.
    pub generator_share: Option<f64>,
    /// True if something arrived from the server for at least one attempt, or if no attempt failed.
    pub answered: bool,
    /// Description of the last thing that arrived from the server and was no usable answer.
    pub last_arrived: Option<String>,
    /// True if the load generator was the bottleneck, and neither the strategy nor the server.
    pub bottleneck: bool,
    pub latencies: Option<Arc<KeptLatencies>>,
}

impl Finished {
    pub fn sound(&self, seed: u64) -> anyhow::Result<()> {
        match self.conservation.mismatches.first() {
            None => Ok(()),
            Some(mismatch) => {
                let words = format!("{}, seed {seed}: ACCOUNTING MISMATCH", self.result.strategy);
                Err(Error::because(ErrorKind::NotConserved, words, mismatch.clone()).into())
            }
        }
    }
}

pub fn start(
    settings: &Experiment,
    server: &Server,
    seed: u64,
    room: ConnectionRoom,
    samples: Option<SampleSink>,
    server_age: Duration,
) -> anyhow::Result<Underway> {
    let target = server.target.as_ref().context("the server was not started")?;
    let mut config = settings.for_server(server.model.as_ref(), seed);
    config.outages.server_age = server_age;
    let id = RandomState::new().hash_one(seed);
    let transport = transport(settings, server, target, &config, id, room.most);
    let (searched, last_head) = (transport.searched.clone(), transport.last_head.clone());
    let transport = settings.sending.transport.towards(server.mock.is_some()).build(transport)?;
    let margin = settings.time_scale.to_experiment(ORACLE_MARGIN);
    let strategy = settings.strategy_of_clients();
    let mut run = Run::new(
        config.clone(),
        |_| strategy.build(seed, server.oracle_schedule(seed, margin)),
        server.least_costs(seed),
    )?;
    run.follow_law(server.rate_law());
    if let Some(sink) = samples {
        run.record_samples(sink);
    }
    let control = Arc::new(Control::default());
    let (tell_over, over) = channel();
    let watched = control.clone();
    // Without keep-alive, a connection that is opened before the run would be closed after its first request.
    let warm_connections = if settings.sending.keep_alive { warm_connections(&config) } else { 0 };
    let options = DriveOptions { warm_connections, ..DriveOptions::default() };
    let started_at = now();
    let drive = move || {
        let driven = transport.drive(run, &watched, options);
        // Sending fails only if the receiver was dropped. No observer is then waiting for the end of the run, so the error is ignored.
        let _ = tell_over.send(());
        let (run, report) = driven.map_err(|error| match error {
            DriveError::Silent { .. } => {
                anyhow::Error::from(Error::because(ErrorKind::Unreachable, "the run did not begin", error))
            }
            error => error.into(),
        })?;
        Ok(Driven { run, report })
    };
    let thread = std::thread::Builder::new()
        .name("load".to_owned())
        .spawn(drive)
        .context("the thread of the run could not be started")?;
    let bound = PlannedBound::new(config, server);
    Ok(Underway { control, over, bound, thread, room, searched, id, seed, started_at, last_head })
}

impl Underway {
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns true if the run's thread has ended. It does not matter whether it ended normally, with an error or by a panic.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end of the run, queries the server for its counts, and checks that the counts of client and server match. If calls
    /// were to be counted in time bins, also returns the counts.
    pub fn finish(
        self,
        settings: &Experiment,
        server: &Server,
        runtime: &Runtime,
        stop: &dyn Stop,
    ) -> anyhow::Result<(Finished, Option<Bins>)> {
        let driven =
            self.thread.join().map_err(|_| anyhow!("the run's thread panicked: this is a bug"))??;
        let mut warnings: Vec<Warning> = server.counts_unknown().into_iter().collect();
        // Period for which the server must still have its counts. It is 5 s longer than the run, because the server's clock is read some
        // time after the end of the run.
        let lasted = settings.time_scale.to_experiment(driven.report.wall + Duration::from_secs(5));
        let stats = server_stats(server, self.id, (runtime, stop), lasted).unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        // If the server did not respond to the query for its counts, no further query is sent.
        let is_silent = matches!(warnings[..], [Warning::CountsUnknown(_)]);
        let conservation = driven.run.conservation(stats.as_ref().map(|stats| &stats.counts));
        let measured = driven.run.measurements();
        let wall_s = driven.report.wall.as_secs_f64();
        let lag = measured.send_lag.figures();
        // If a run sent nothing, its CPU time is only that of the setup. The CPU time is then ignored.
        let busiest = driven.report.busiest.filter(|_| lag.count > 0);
        let generator_share = busiest.map(|time| time.as_secs_f64() / wall_s.max(1e-9));
        let bottleneck = bottleneck(settings, &driven, generator_share);
        let was_bottleneck = bottleneck.is_some();
        warnings.extend(bottleneck.map(Warning::Bottleneck));
        let distorted = |share| Warning::distorted(share, &measured.excess.figures());
        warnings.extend(measured.excess.intolerable().map(distorted));
        let current = if is_silent { None } else { server.is_as_it_was(runtime, stop) };
        let planned =
            server.model.as_ref().is_some_and(|model| !model.caps.is_empty() || !model.schedule.is_empty());
        if current == Some(false) || driven.run.cap_changed() && !planned {
            warnings.push(Warning::ServerChanged);
        }
        warnings.extend(of_outcome(&driven.run, server, &self.searched, stop.asked_by()));
        // Over HTTP/2, attempts share connections. The check whether there were enough connections is therefore skipped.
        if !settings.sending.transport.shares_connections() {
            let most = measured.series.points().iter().map(|point| point.in_flight.max).fold(0.0, f32::max);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            warnings.extend(self.room.warning_after(most as u64));
        }
        let warm_up = driven.report.warm_up;
        if server.mock.is_some() && warm_up.ready < warm_up.wanted && warm_up.ready > 0 {
            let (accepted, opened) = (warm_up.ready as u64, warm_up.wanted as u64);
            warnings.push(Warning::FewAccepted { accepted, opened });
        }
        // The number of responses is computed from counts of attempts. Counts of latencies would leave out the attempts of the warm-up.
        let attempts = &measured.attempts;
        let answers = attempts.succeeded + attempts.rejected + measured.answered_failures;
        let last_arrived = last_arrived(measured, &self.last_head, driven.report.resent);
        let answered = answers > 0 || attempts.failed == 0 || last_arrived.is_some();
        let mut result = RunResult::new(
            &settings.strategy,
            &driven.run,
            ResultContext {
                mode: Mode::Http,
                config: config_record(settings, &server.record(), self.seed).into(),
                seed: self.seed,
                load: Load::new(settings, server.model.as_ref(), Mode::Http).map(|load| load.record()),
                server: stats,
                generator: GeneratorResult {
                    send_lag_ms: lag.into(),
                    excess_ms: measured.excess.figures(),
                    cpu_s: driven.report.cpu.map(|cpu| cpu.as_secs_f64()),
                    peak_rss_bytes: peak_rss_bytes(),
                    connections: Some(driven.report.connections),
                    connect_ms: driven.report.connect_times.into(),
                    resent: Some(driven.report.resent),
                    waited_for_connection: Some(driven.report.connection_waits.count),
                    connection_wait_ms: driven.report.connection_waits.into(),
                },
                started_at: Some(self.started_at),
                wall_s: Some(wall_s),
                interrupted: stop.asked_by(),
                warnings: texts(&warnings),
                series_points: SERIES_POINTS,
            },
        );
        if current != Some(true) {
            (result.optimal_makespan_s, result.rate) = (None, None);
            (result.load_factor, result.load) = (None, None);
        }
        let bins = measured.bins.clone();
        let latencies = settings.keep_latencies.then(|| Arc::new(KeptLatencies::new(&driven.run)));
        let finished = Finished {
            result,
            conservation,
            generator_share,
            answered,
            last_arrived,
            bottleneck: was_bottleneck,
            latencies,
        };
        Ok((finished, bins))
    }
}

/// Returns warnings about what happened to ops, attempts and answers.
fn of_outcome(
    run: &Run,
    server: &Server,
    searched: &SearchedBodies,
    asked_by: Option<&str>,
) -> impl Iterator<Item = Warning> {
    let measured = run.measurements();
    let counted = |count: u64, warning: fn(u64) -> Warning| (count > 0).then(|| warning(count));
    let is_useless = measured.attempts.succeeded + measured.attempts.rejected == 0;
    let cause = measured.failures.by_frequency().first().map(|(cause, _)| *cause);
    let may_speak_tls = is_useless && cause.is_some_and(|cause| server.may_speak_tls(cause));
    let refused = cause.filter(|_| is_useless).and_then(|cause| server.certificate_refused(cause));
    [
        counted(measured.attempts.by_gateway, Warning::ByGateway),
        may_speak_tls.then(|| Warning::MaySpeakTls(server.url())),
        refused,
        unfinished(run, asked_by),
        Warning::advised_wait(run),
        counted(searched.cut(), Warning::CutBodies),
        counted(measured.attempts.unsent, Warning::Unsent),
    ]
    .into_iter()
    .flatten()
}

fn bottleneck(settings: &Experiment, driven: &Driven, cpu_share: Option<f64>) -> Option<Bottleneck> {
    let measured = driven.run.measurements();
    let load = GeneratorLoad {
        send_lag_ms: GeneratorLoad::judged_lag(&measured.send_lag).as_secs_f64() * 1e3,
        usual_attempt_ms: measured.attempt_latency().figures().p50.unwrap_or_default(),
        time_scale: settings.time_scale.factor(),
        cpu_share,
        waited_for_connection: driven.report.connection_waits.count,
    };
    load.bottleneck()
}

/// Describes the last thing that arrived from the server and was no usable answer.
fn last_arrived(measured: &Measurements, last_head: &AtomicU16, resent: u64) -> Option<String> {
    match (measured.failures.last_arrived, last_head.load(Ordering::Relaxed)) {
        (Some(kind), _) => Some(kind.words().to_owned()),
        (None, 0) if resent > 0 => Some("an HTTP/2 frame that refused requests".to_owned()),
        (None, 0) => None,
        (None, code) => Some(format!("the head of a {code}")),
    }
}

fn transport(
    settings: &Experiment,
    server: &Server,
    target: &Target,
    config: &RunConfig,
    id: RunId,
    max_connections: usize,
) -> TransportConfig {
    let headers = server.mock.as_ref().map(|mock| RunHeaders {
        run: id,
        seed: config.seed,
        anchor: WallTime::from_unix(Duration::from_millis(mock.state.anchor_unix_ms.unwrap_or_default())),
    });
    let of_server = server.model.as_ref().map(mockserver::core::Config::reject_statuses).unwrap_or_default();
    let conditional_writes = config.kind == OperationKind::ReadModifyWrite
        || settings.request.headers.contains_key(http::header::IF_MATCH);
    let classifier = Classifier {
        success: config.success.clone(),
        ..Classifier::new(&config.rejected_when, of_server, conditional_writes)
    };
    TransportConfig {
        target: target.clone(),
        request: settings.request.clone(),
        run: headers,
        classifier,
        last_head: Arc::default(),
        reading: settings.strategy.reading().clone(),
        kind: config.kind,
        requests: config.requests.clone(),
        seed: config.seed,
        timeout: settings.time_scale.to_real(config.timeout),
        max_connections,
        local_addresses: settings.sending.local_addresses.clone(),
        threads: settings.sending.threads,
        keep_alive: settings.sending.keep_alive,
        http2_connections: settings.sending.http2_connections,
        scale: settings.time_scale,
        searched: Arc::default(),
    }
}

/// Returns the number of connections to open before the first op, from 1 to 128. A closed loop needs one connection per op in flight. For
/// arrivals at a rate, the number of arrivals in 10 ms is enough. For bursts and lists of arrivals, the maximum is opened.
fn warm_connections(config: &RunConfig) -> usize {
    use loadgen_core::ArrivalProcess::{Burst, Closed, Listed, Poisson, Scattered, Staged, Uniform};
    let wanted = match &config.workload.arrivals {
        Closed { in_flight } => f64::from(*in_flight),
        Poisson { rate_per_s } | Uniform { rate_per_s } => rate_per_s / 100.0,
        Staged { stages, .. } => stages[0].from.per_s() / 100.0,
        Burst | Listed(_) | Scattered(_) => WARM_CONNECTIONS,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is clamped between 1 and 128"
    )]
    let count = wanted.clamp(1.0, WARM_CONNECTIONS) as usize;
    count
}

/// Queries the server for its counts of a run, which took the time `lasted`. Returns a warning if they are unknown or incomplete.
fn server_stats(
    server: &Server,
    id: RunId,
    (runtime, stop): (&Runtime, &dyn Stop),
    lasted: Duration,
) -> Result<Option<ServerStats>, Warning> {
    let Some(mock) = &server.mock else { return Ok(None) };
    let answer = unless_stopped(stop, runtime, mock.stats(id));
    let stopped = || Warning::CountsUnknown("the run was stopped before they were received".to_owned());
    let stats = answer.ok_or_else(stopped)?.map_err(|error| Warning::CountsUnknown(words_of(&error)))?;
    let before = mock.state;
    let is_forgotten = |until| until >= stats.uptime_s - lasted.as_secs_f64();
    match () {
        () if before.instance.is_some_and(|before| before != stats.instance) => Err(Warning::ServerRestarted),
        () if before.epoch.is_some_and(|before| before != stats.epoch) => Err(Warning::ServerReset),
        () if stats.forgotten_until_s.is_some_and(is_forgotten) => Err(Warning::CountsForgotten),
        () => Ok(Some(stats)),
    }
}

/// Formats warnings, those about the machine last.
fn texts(warnings: &[Warning]) -> Vec<String> {
    let mut texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    texts.sort_by_key(|warning| is_about_machine(warning));
    texts
}

pub fn unfinished(run: &Run, stopped_by: Option<&str>) -> Option<Warning> {
    let unfinished = run.measurements().ops.unfinished();
    let cut = stopped_by.is_none() && run.stalled_at().is_none();
    (cut && unfinished > 0).then_some(Warning::Unfinished(unfinished))
}

/// Op latencies of a completed run, as an encoded histogram. They can be kept for every run, because the histogram is small: the encoding
/// spends no space on empty buckets.
pub struct KeptLatencies {
    /// Histogram of op latencies in the V2 encoding of `HdrHistogram`, uncompressed.
    pub encoded: Vec<u8>,
    /// Time from the start of the run to the end of its last op. If the run stalled later than that, time until the stall was detected.
    pub length: Duration,
}

impl KeptLatencies {
    pub fn new(run: &Run) -> Self {
        let measured = run.measurements();
        let mut encoded = Vec::new();
        V2Serializer::new()
            .serialize(&measured.op_latency.histogram(), &mut encoded)
            .expect("writing to memory cannot fail, and op counts need far less than 63 bits");
        let end = measured.last_end.max(run.stalled_at()).unwrap_or_default();
        Self { encoded, length: end.since(vocabulary::Instant::ORIGIN) }
    }
}

/// Wall-clock times for people and files: RFC 3339 in UTC, to the millisecond.
pub fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
