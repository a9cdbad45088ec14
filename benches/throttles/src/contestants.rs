//! HTTP clients under comparison. Each of them runs ops, and repeats their failed attempts.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use governor::{Quota, RateLimiter};
use reqwest::{Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tailback_http::{Throttle, ThrottleMiddleware};
use tower::limit::ConcurrencyLimit;
use tower::{Layer as _, ServiceExt as _, service_fn};
use tower_resilience::adaptive::{AdaptiveError, AdaptiveService, Aimd};
use tower_resilience::retry::{ExponentialRandomBackoff, RetryLayer};

use crate::Failed;
use crate::log::{Log, retry_after};

/// Shortest and longest backoff of the clients that have an exponential backoff.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Maximum number of retries of an op. It is generous, so that ops fail only at the end of the run.
const MAX_RETRIES: u32 = 1000;
/// Wait of the retry loops after a rejection without advice.
const PAUSE: Duration = Duration::from_secs(1);
/// Latency above which the adaptive limiter shrinks its limit. Undisturbed attempts take 600 ms.
const SLOW: Duration = Duration::from_secs(1);

/// Client of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    Loadgen(&'static str),
    Throttle(&'static str),
    Middleware(&'static str),
    ReqwestRetry,
    Governor,
    ConcurrencyLimit,
    TowerResilience,
}

/// Limits as a user sets them who knows the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownLimits {
    pub(crate) period: Duration,
    pub(crate) burst: u32,
    pub(crate) concurrency: usize,
}

/// Runs one op, and returns whether it succeeded.
pub(crate) type RunOp = Arc<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

impl Contestant {
    pub(crate) const ALL: [Self; 10] = [
        Self::Loadgen("tailback"),
        Self::Throttle("tailback"),
        Self::Middleware("tailback"),
        Self::Loadgen("hold+aimd"),
        Self::Throttle("hold+aimd"),
        Self::Middleware("hold+aimd"),
        Self::ReqwestRetry,
        Self::Governor,
        Self::ConcurrencyLimit,
        Self::TowerResilience,
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Loadgen(strategy) => format!("loadgen {strategy}"),
            Self::Throttle(strategy) => format!("Throttle {strategy}"),
            Self::Middleware(strategy) => format!("ThrottleMiddleware {strategy}"),
            Self::ReqwestRetry => "reqwest-retry".to_owned(),
            Self::Governor => "governor + loop".to_owned(),
            Self::ConcurrencyLimit => "tower ConcurrencyLimit + loop".to_owned(),
            Self::TowerResilience => "tower-resilience adaptive + retry".to_owned(),
        }
    }

    /// Returns the contestant whose figures are the reference for this one.
    pub(crate) fn reference(self) -> Option<Self> {
        match self {
            Self::Throttle(strategy) | Self::Middleware(strategy) => Some(Self::Loadgen(strategy)),
            _ => None,
        }
    }

    /// Creates the client. `loadgen` has none, because it is a program of its own.
    pub(crate) fn client(self, target: Target, limits: KnownLimits) -> Result<RunOp, Failed> {
        match self {
            Self::Loadgen(_) => Err("loadgen is not a client of this program".into()),
            Self::Throttle(strategy) => throttle(target, strategy),
            Self::Middleware(strategy) => {
                let builder = Throttle::builder(strategy.parse()?).unlimited();
                Ok(middleware(target, ThrottleMiddleware::with_settings(builder)?))
            }
            Self::ReqwestRetry => {
                let backoff = ExponentialBackoff::builder().retry_bounds(BACKOFF.0, BACKOFF.1);
                let policy = backoff.build_with_max_retries(MAX_RETRIES);
                Ok(middleware(target, RetryTransientMiddleware::new_with_policy(policy)))
            }
            Self::Governor => governor(target, limits),
            Self::ConcurrencyLimit => Ok(concurrency_limit(target, limits)),
            Self::TowerResilience => tower_resilience(target),
        }
    }
}

/// Server under test, and the log of the attempts at it.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    pub(crate) log: Log,
}

impl Target {
    /// Makes one attempt.
    async fn get(&self) -> reqwest::Result<Response> {
        self.log.record(self.client.get(&self.url).send()).await
    }
}

/// Returns whether the result is a success. Reads the body, so that the connection returns to the pool.
async fn is_success<E>(result: Result<Response, E>) -> bool {
    match result {
        Ok(response) => response.status().is_success() && response.bytes().await.is_ok(),
        Err(_) => false,
    }
}

fn throttle(target: Target, strategy: &str) -> Result<RunOp, Failed> {
    let throttle = Throttle::builder(strategy.parse()?).unlimited().build()?;
    Ok(Arc::new(move || {
        let (throttle, target) = (throttle.clone(), target.clone());
        async move { is_success(throttle.run(|_attempt| target.get()).await).await }.boxed()
    }))
}

/// Innermost middleware, which records each attempt.
struct Recorder(Log);

#[async_trait::async_trait]
impl Middleware for Recorder {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        self.0.record(next.run(request, extensions)).await
    }
}

fn middleware(target: Target, middleware: impl Middleware) -> RunOp {
    let Target { client, url, log } = target;
    let client: ClientWithMiddleware =
        ClientBuilder::new(client).with(middleware).with(Recorder(log)).build();
    Arc::new(move || {
        let request = client.get(&url);
        async move { is_success(request.send().await).await }.boxed()
    })
}

/// Repeats attempts until one succeeds. After a rejection it waits as advised, or for [`PAUSE`].
async fn retry_loop(mut attempt: impl AsyncFnMut() -> reqwest::Result<Response>) -> bool {
    for _ in 0..=MAX_RETRIES {
        let result = attempt().await;
        let advised = result.as_ref().ok().and_then(|response| retry_after(response.headers()));
        if is_success(result).await {
            return true;
        }
        tokio::time::sleep(advised.unwrap_or(PAUSE)).await;
    }
    false
}

fn governor(target: Target, limits: KnownLimits) -> Result<RunOp, Failed> {
    let quota = Quota::with_period(limits.period).ok_or("the period is 0")?;
    let burst = NonZeroU32::new(limits.burst).ok_or("the burst is 0")?;
    let limiter = Arc::new(RateLimiter::direct(quota.allow_burst(burst)));
    Ok(Arc::new(move || {
        let (limiter, target) = (limiter.clone(), target.clone());
        let attempt = async move || {
            limiter.until_ready().await;
            target.get().await
        };
        retry_loop(attempt).boxed()
    }))
}

fn concurrency_limit(target: Target, limits: KnownLimits) -> RunOp {
    let get = service_fn(move |()| {
        let target = target.clone();
        async move { target.get().await }
    });
    let service = ConcurrencyLimit::new(get, limits.concurrency);
    Arc::new(move || {
        let service = service.clone();
        retry_loop(async move || service.clone().oneshot(()).await).boxed()
    })
}

/// Returns a client with an adaptive limit of the concurrency inside of retries. The limiter learns from errors, so a rejection is an
/// error of the service.
fn tower_resilience(target: Target) -> Result<RunOp, Failed> {
    let get = service_fn(move |()| {
        let target = target.clone();
        async move { target.get().await.and_then(Response::error_for_status) }
    });
    let aimd = Aimd::builder().initial_limit(20).max_limit(1000).latency_threshold(SLOW).build()?;
    let limited = AdaptiveService::new(get, Arc::new(aimd));
    let backoff = ExponentialRandomBackoff::new(BACKOFF.0, 0.5)?.max_interval(BACKOFF.1);
    let retries = RetryLayer::<(), Response, AdaptiveError<reqwest::Error>>::builder()
        .max_attempts(MAX_RETRIES as usize + 1)
        .backoff(backoff)
        .build();
    let service = retries.layer(limited);
    Ok(Arc::new(move || {
        let service = service.clone();
        async move { is_success(service.oneshot(()).await).await }.boxed()
    }))
}
