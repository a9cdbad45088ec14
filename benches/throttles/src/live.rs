//! Behavior of each client towards a mockserver: attempts, makespan, latency, and respect for `Retry-After`.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use loadgen_core::{Arrivals, Workload};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::{sleep_until, timeout_at};

use crate::Failed;
use crate::contestants::{Contestant, KnownLimits, RunOp, Target};
use crate::log::{Log, cut_off, early, last_success, percentile};

/// Maximum duration of a run, in seconds. Ops that have not succeeded by then have failed.
const MAX_RUN_S: u64 = 300;
/// Arrivals per second, as an argument of `loadgen`. It is the rate of the default [`Workload`].
const RATE: &str = "1000/s";

/// Options of the command `live`.
pub(crate) struct Options {
    pub(crate) mockserver: PathBuf,
    pub(crate) loadgen: PathBuf,
    pub(crate) rounds: u64,
    /// Part of the names of the contestants that run.
    pub(crate) only: String,
    /// Name of the experiment that runs; `None` for all.
    pub(crate) experiment: Option<String>,
}

struct Experiment {
    name: &'static str,
    /// Arguments of the mockserver.
    server: &'static [&'static str],
    ops: u64,
    limits: KnownLimits,
}

const EXPERIMENTS: [Experiment; 3] = [
    // 50 slots with a service time of 500 ms serve 100 requests per second.
    Experiment {
        name: "A",
        server: &["--max-busy", "50"],
        ops: 2000,
        limits: KnownLimits { period: Duration::from_millis(10), burst: 1, concurrency: 50 },
    },
    // A tenth of 500 requests per minute. The period is 4 % longer, because rejected requests count, too.
    Experiment {
        name: "B",
        server: &["--preset", "openai", "--scale", "0.1"],
        ops: 150,
        limits: KnownLimits { period: Duration::from_millis(1250), burst: 50, concurrency: 50 },
    },
    // 100 requests per window of 10 s. A steady rate fits into every window, wherever it begins.
    Experiment {
        name: "C",
        server: &["--policy", "fixed-window:limit=100,window=10s", "--advice", "seconds"],
        ops: 500,
        limits: KnownLimits { period: Duration::from_millis(100), burst: 1, concurrency: 50 },
    },
];

/// Figures of one run, or their medians over several runs.
#[derive(Clone, Copy, Debug)]
struct Figures {
    attempts: f64,
    /// Time in seconds from the first arrival to the last success.
    makespan: f64,
    /// 99th percentile in seconds of the times from arrival to success.
    p99: f64,
    failed: f64,
    early: f64,
    /// Number of attempts that the end of the run cut off. The server may not have counted them.
    cut_off: f64,
    /// Number of requests that the server counted, minus the number of attempts.
    difference: f64,
}

pub(crate) fn run(options: &Options) -> Result<(), Failed> {
    // With one thread, nothing happens between the record of a response and the throttle's update. So `early` is exact.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let is_selected = |experiment: &&Experiment| {
        options.experiment.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(experiment.name))
    };
    for experiment in EXPERIMENTS.iter().filter(is_selected) {
        runtime.block_on(compare(options, experiment))?;
    }
    Ok(())
}

/// Runs all contestants in each round, and prints the medians over the rounds.
async fn compare(options: &Options, experiment: &Experiment) -> Result<(), Failed> {
    let mut rows: Vec<(Contestant, Vec<Figures>)> = Contestant::ALL
        .into_iter()
        .filter(|contestant| contestant.name().contains(&options.only))
        .map(|contestant| (contestant, Vec::new()))
        .collect();
    for seed in 1..=options.rounds {
        for (contestant, figures) in &mut rows {
            eprintln!("{}: round {seed}: {}", experiment.name, contestant.name());
            figures.push(one_run(options, experiment, *contestant, seed).await?);
        }
    }
    let rows: Vec<(Contestant, Figures)> =
        rows.into_iter().map(|(contestant, figures)| (contestant, median(&figures))).collect();
    print(experiment, options.rounds, &rows);
    Ok(())
}

fn print(experiment: &Experiment, rounds: u64, rows: &[(Contestant, Figures)]) {
    let KnownLimits { period, burst, concurrency } = experiment.limits;
    let Experiment { name, ops, .. } = experiment;
    println!(
        "{name}: mockserver {}; {ops} ops at {RATE}; medians of {rounds} rounds",
        experiment.server.join(" ")
    );
    println!("   governor: one per {period:?}, burst {burst}; ConcurrencyLimit: {concurrency}");
    println!(
        "{:<34} {:>8} {:>10} {:>8} {:>6} {:>6} {:>7}  {:>9} {:>9}",
        "client", "attempts", "makespan/s", "p99/s", "failed", "early", "server", "attempts×", "makespan×"
    );
    for (contestant, figures) in rows {
        let Figures { attempts, makespan, p99, failed, early, cut_off, difference } = figures;
        let server = match *difference {
            0.0 => "equal".to_owned(),
            less if less < 0.0 && -less <= *cut_off => "cut off".to_owned(),
            difference => format!("{difference:+}"),
        };
        let reference = rows.iter().find(|(other, _)| contestant.reference() == Some(*other));
        let ratios = reference.map_or(String::new(), |(_, reference)| {
            format!("{:>9.3} {:>9.3}", attempts / reference.attempts, makespan / reference.makespan)
        });
        let name = contestant.name();
        println!(
            "{name:<34} {attempts:>8} {makespan:>10.2} {p99:>8.2} {failed:>6} {early:>6} {server:>7}  {ratios}"
        );
    }
    println!();
}

fn median(runs: &[Figures]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| percentile(runs.iter().map(figure).collect(), 0.5);
    Figures {
        attempts: of(|run| run.attempts),
        makespan: of(|run| run.makespan),
        p99: of(|run| run.p99),
        failed: of(|run| run.failed),
        early: of(|run| run.early),
        cut_off: of(|run| run.cut_off),
        difference: of(|run| run.difference),
    }
}

/// Runs one contestant against a new server.
async fn one_run(
    options: &Options,
    experiment: &Experiment,
    contestant: Contestant,
    seed: u64,
) -> Result<Figures, Failed> {
    let server = Server::start(options, experiment).await?;
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(usize::MAX).build()?;
    let mut figures = match contestant {
        Contestant::Loadgen(strategy) => loadgen(options, experiment, strategy, &server.url, seed).await?,
        _ => {
            let target = Target { client: client.clone(), url: format!("{}/", server.url), log: Log::new() };
            let log = target.log.clone();
            let run_op = contestant.client(target, experiment.limits)?;
            drive(&run_op, &log, experiment.ops, seed).await
        }
    };
    let stats = client.get(format!("{}/_mock/stats", server.url)).send().await?.text().await?;
    let stats: Value = serde_json::from_str(&stats)?;
    figures.difference = number(&stats, "/received")? - figures.attempts;
    server.stop().await?;
    Ok(figures)
}

/// Starts each op at its arrival, and waits until all have ended or the run has lasted for [`MAX_RUN_S`].
async fn drive(run_op: &RunOp, log: &Log, ops: u64, seed: u64) -> Figures {
    let origin = log.origin();
    let workload = Workload { ops: Some(ops), ..Workload::default() };
    let arrivals: Vec<Duration> = Arrivals::new(workload, seed).map(|at| at.since_origin()).collect();
    let end = origin + Duration::from_secs(MAX_RUN_S);
    let mut tasks = Vec::new();
    for &arrival in &arrivals {
        sleep_until((origin + arrival).into()).await;
        let op = run_op();
        tasks.push(tokio::spawn(async move {
            let succeeded = timeout_at(end.into(), op).await.unwrap_or(false);
            succeeded.then(|| (origin.elapsed() - arrival).as_secs_f64())
        }));
    }
    let latencies: Vec<f64> =
        join_all(tasks).await.into_iter().filter_map(|latency| latency.ok().flatten()).collect();
    let attempts = log.attempts();
    let first = arrivals.first().copied().unwrap_or_default();
    Figures {
        attempts: attempts.len() as f64,
        makespan: last_success(&attempts).map_or(f64::NAN, |last| (last - first).as_secs_f64()),
        failed: (arrivals.len() - latencies.len()) as f64,
        p99: percentile(latencies, 0.99),
        early: early(&attempts) as f64,
        cut_off: cut_off(&attempts) as f64,
        difference: 0.0,
    }
}

/// Runs `loadgen` over HTTP, and reads its figures.
async fn loadgen(
    options: &Options,
    experiment: &Experiment,
    strategy: &str,
    url: &str,
    seed: u64,
) -> Result<Figures, Failed> {
    let (ops, seed) = (experiment.ops.to_string(), seed.to_string());
    let arguments =
        ["--strategy", strategy, "--ops", &ops, "--seed", &seed, "--rate", RATE, "--json", "-", "--quiet"];
    let output = Command::new(&options.loadgen).arg(url).args(arguments).kill_on_drop(true).output();
    let end = Instant::now() + Duration::from_secs(MAX_RUN_S);
    let output = timeout_at(end.into(), output).await.map_err(|_| "loadgen did not end in time")??;
    let json: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(Figures {
        attempts: number(&json, "/attempts/total")?,
        makespan: number(&json, "/makespan_s")?,
        p99: number(&json, "/op_latency_ms/p99")? / 1000.0,
        failed: number(&json, "/ops/total")? - number(&json, "/ops/succeeded")?,
        early: number(&json, "/advice/early_shared")?,
        cut_off: 0.0,
        difference: 0.0,
    })
}

fn number(json: &Value, path: &str) -> Result<f64, Failed> {
    json.pointer(path).and_then(Value::as_f64).ok_or_else(|| format!("no number at {path} in {json}").into())
}

/// Mockserver as a child process. It ends with this value.
struct Server {
    child: Child,
    url: String,
    /// Stays open, so that the server can print.
    _lines: Lines<BufReader<ChildStderr>>,
}

impl Server {
    async fn start(options: &Options, experiment: &Experiment) -> Result<Self, Failed> {
        let mut child = Command::new(&options.mockserver)
            .args(["--listen", "127.0.0.1:0"])
            .args(experiment.server)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("stderr is not a pipe")?).lines();
        let line = lines.next_line().await?.unwrap_or_default();
        let address =
            line.strip_prefix("mockserver listening on ").ok_or_else(|| format!("no address: {line}"))?;
        Ok(Self { child, url: address.trim_end().to_owned(), _lines: lines })
    }

    async fn stop(mut self) -> Result<(), Failed> {
        Ok(self.child.kill().await?)
    }
}
