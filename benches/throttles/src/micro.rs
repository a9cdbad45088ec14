//! Cost per call of each throttle, around a service that succeeds at once.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::ready;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::{Quota, RateLimiter};
use reqwest::{Method, Request, Response, Url};
use reqwest_middleware::{ClientBuilder, Middleware, Next};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tailback::{
    AttemptEnd, Candidate, Classification, LaunchDecision, LimiterView, Outcome, RetryState, Status,
    StrategySpec,
};
use tailback_http::{Throttle, ThrottleMiddleware};
use tokio::runtime::Runtime;
use tower::limit::ConcurrencyLimit;
use tower::{Service, ServiceExt as _, service_fn};
use tower_resilience::adaptive::{AdaptiveService, Aimd};

use crate::Failed;

const WORKERS: usize = 2;
const TASKS: u32 = 16;
const ROUNDS: usize = 7;
/// Number of calls in a round.
const CALLS: u32 = 200_000;
/// Concurrency limit of the throttles that need one. It is above `TASKS`, so no call waits.
const LIMIT: usize = 64;

type Reply = http::Response<()>;

/// Row of the table, with the nanoseconds per call of each round.
struct Row {
    name: &'static str,
    uncontended: Vec<f64>,
    contended: Vec<f64>,
    /// Runs one round. The second figure is `None` if the row has no contended case.
    round: Box<dyn FnMut() -> (f64, Option<f64>)>,
}

impl Row {
    fn new(name: &'static str, round: impl FnMut() -> (f64, Option<f64>) + 'static) -> Self {
        Self { name, uncontended: Vec::new(), contended: Vec::new(), round: Box::new(round) }
    }
}

pub(crate) fn run() -> Result<(), Failed> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_time().build()?;
    let runtime = Arc::new(runtime);
    let mut rows = rows(&runtime)?;
    // The first round is the warm-up.
    for round in 0..=ROUNDS {
        for row in &mut rows {
            let (uncontended, contended) = (row.round)();
            if round > 0 {
                row.uncontended.push(uncontended);
                row.contended.extend(contended);
            }
        }
    }
    println!("nanoseconds per call: median (minimum) of {ROUNDS} rounds with {CALLS} calls each");
    println!("{:<44} {:>16} {:>16}", "throttle", "1 task", format!("{TASKS} tasks"));
    for row in &mut rows {
        let figures = [&mut row.uncontended, &mut row.contended].map(|times| text(times));
        println!("{:<44} {:>16} {:>16}", row.name, figures[0], figures[1]);
    }
    Ok(())
}

fn text(times: &mut [f64]) -> String {
    times.sort_unstable_by(f64::total_cmp);
    match times {
        [] => "-".to_owned(),
        times => format!("{:.0} ({:.0})", times[times.len() / 2], times[0]),
    }
}

fn rows(runtime: &Arc<Runtime>) -> Result<Vec<Row>, Failed> {
    let one_per_ns = Quota::per_second(NonZeroU32::new(1_000_000_000).ok_or("zero")?);
    let governor = Arc::new(RateLimiter::direct(one_per_ns));
    let instantly = service_fn(|()| ready(Ok::<Reply, Infallible>(reply())));
    let adaptive = Aimd::builder().initial_limit(LIMIT).min_limit(LIMIT).max_limit(4 * LIMIT).build()?;
    let adaptive = AdaptiveService::new(instantly, Arc::new(adaptive));
    let retries = ExponentialBackoff::builder().build_with_max_retries(9);
    let retries = RetryTransientMiddleware::new_with_policy(retries);
    let aimd = ThrottleMiddleware::with_settings(Throttle::builder("aimd".parse()?).unlimited())?;
    let client = || ClientBuilder::new(reqwest::Client::new());
    Ok(vec![
        row(runtime, "no throttle", move |calls| async move {
            for _ in 0..calls {
                black_box(ready(reply()).await);
            }
        }),
        throttle(runtime, "Throttle::run, aimd", "aimd")?,
        throttle(runtime, "Throttle::run, tailback", "tailback")?,
        throttle(runtime, "Throttle::run, hold+aimd", "hold+aimd")?,
        bare_strategy("Strategy::admit + on_ended, aimd", "aimd")?,
        bare_strategy("Strategy::admit + on_ended, tailback", "tailback")?,
        tower(runtime, "tower ConcurrencyLimit", ConcurrencyLimit::new(instantly, LIMIT)),
        row(runtime, "governor until_ready", move |calls| {
            let governor = governor.clone();
            async move {
                for _ in 0..calls {
                    governor.until_ready().await;
                    black_box(ready(reply()).await);
                }
            }
        }),
        tower(runtime, "tower-resilience adaptive limiter, AIMD", adaptive),
        stubbed(runtime, "reqwest-middleware, stub, no throttle", client())?,
        stubbed(runtime, "reqwest-middleware, stub, reqwest-retry", client().with(retries))?,
        stubbed(runtime, "reqwest-middleware, stub, ThrottleMiddleware", client().with(aimd))?,
    ])
}

/// Returns the row of a throttle. `task` creates a task with that many calls.
fn row<T>(runtime: &Arc<Runtime>, name: &'static str, task: impl Fn(u32) -> T + 'static) -> Row
where
    T: Future<Output = ()> + Send + 'static,
{
    let runtime = runtime.clone();
    Row::new(name, move || (time_per_call(&runtime, &task, 1), Some(time_per_call(&runtime, &task, TASKS))))
}

/// Returns the wall time in nanoseconds, divided by the number of calls of all tasks together.
fn time_per_call<T>(runtime: &Runtime, task: &impl Fn(u32) -> T, tasks: u32) -> f64
where
    T: Future<Output = ()> + Send + 'static,
{
    let started = Instant::now();
    let tasks: Vec<_> = (0..tasks).map(|_| runtime.spawn(task(CALLS / tasks))).collect();
    for end in runtime.block_on(futures_util::future::join_all(tasks)) {
        end.expect("no task panics");
    }
    started.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn reply() -> Reply {
    http::Response::new(())
}

fn throttle(runtime: &Arc<Runtime>, name: &'static str, strategy: &str) -> Result<Row, Failed> {
    let throttle = Throttle::builder(strategy.parse()?).unlimited().build()?;
    Ok(row(runtime, name, move |calls| {
        let throttle = throttle.clone();
        async move {
            for _ in 0..calls {
                let result = throttle.run(|_attempt| ready(Ok::<Reply, reqwest::Error>(reply()))).await;
                black_box(result.expect("the service succeeds"));
            }
        }
    }))
}

fn tower<S>(runtime: &Arc<Runtime>, name: &'static str, service: S) -> Row
where
    S: Service<(), Response = Reply, Future: Send, Error: Debug> + Clone + Send + 'static,
{
    row(runtime, name, move |calls| {
        let mut service = service.clone();
        async move {
            for _ in 0..calls {
                let ready = service.ready().await.expect("the service is always ready");
                black_box(ready.call(()).await.expect("the service succeeds"));
            }
        }
    })
}

/// Returns the row of a client with middleware. Its innermost middleware is the stub, so no request reaches the network.
fn stubbed(runtime: &Arc<Runtime>, name: &'static str, client: ClientBuilder) -> Result<Row, Failed> {
    let (client, url): (_, Url) = (client.with(Stub).build(), "http://localhost/".parse()?);
    Ok(row(runtime, name, move |calls| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            for _ in 0..calls {
                let request = Request::new(Method::GET, url.clone());
                black_box(client.execute(request).await.expect("the stub succeeds"));
            }
        }
    }))
}

struct Stub;

#[async_trait::async_trait]
impl Middleware for Stub {
    async fn handle(
        &self,
        _request: Request,
        _extensions: &mut http::Extensions,
        _next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        Ok(http::Response::new("").into())
    }
}

/// Returns the row of a strategy alone, without lock, queue and clock. Its time advances by 1 µs at every step.
fn bare_strategy(name: &'static str, strategy: &str) -> Result<Row, Failed> {
    let mut strategy = strategy.parse::<StrategySpec>()?.build(1, None)?;
    let (mut now, mut seq) = (tailback::Instant::ORIGIN, 0);
    let step = Duration::from_micros(1);
    let round = move || {
        let started = Instant::now();
        for _ in 0..CALLS {
            let last_classification = Classification::Done;
            let candidate = Candidate {
                seq,
                op: seq,
                attempt: 1,
                arrived: now,
                last: None,
                last_classification,
                copy: 0,
            };
            let view = LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate };
            let mut state = RetryState::default();
            let decision = strategy.admit(now, black_box(&view), &mut state);
            let LaunchDecision::Send(permits, _) = decision else { panic!("{name} waits: {decision:?}") };
            let ended = AttemptEnd {
                seq,
                op: seq,
                attempt: 1,
                sent_at: now,
                in_flight_when_sent: 1,
                in_flight: 1,
                ready: 0,
                round_continues: false,
            };
            now = now + step;
            strategy.on_ended(now, &ended, &Outcome::plain(Status::Succeeded), &permits, &mut state);
            seq += 1;
        }
        (started.elapsed().as_nanos() as f64 / f64::from(CALLS), None)
    };
    Ok(Row::new(name, round))
}
