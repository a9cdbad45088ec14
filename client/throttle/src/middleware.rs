//! Middleware for `reqwest-middleware`, in place of `reqwest-retry`.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use async_trait::async_trait;
use http::{Extensions, HeaderName};
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next as Chain};
use tailback::{Method, Missing, StrategySpec};

use crate::attempt::{Next, Refused, Repeats, WaitReason};
use crate::classify::{Classify, Seen};
use crate::hosts::Throttles;
use crate::throttle::{BuildError, Builder, Error as ThrottleError};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Middleware that runs each request by the throttle of its host, or of another key.
///
/// Rejections and refused connections are always retried. Other failures are retried if the method is idempotent (RFC 9110, section
/// 9.2.2), or the request has the header `Idempotency-Key`, or [`retry_unsafe`](Self::retry_unsafe) is set. A request whose body cannot be
/// cloned, such as a stream, is sent once.
///
/// The response has a [`Waited`] in its extensions.
pub struct ThrottleMiddleware<K = Origin> {
    throttles: Throttles<K>,
    key: Box<dyn Fn(&Request) -> K + Send + Sync>,
    attempt_timeout: Option<Duration>,
    retries_unsafe: bool,
}

/// Scheme, host and port of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Scheme, such as `https`.
    pub scheme: String,
    /// Host.
    pub host: String,
    /// Port, also if it is the default one of the scheme.
    pub port: Option<u16>,
}

/// Attempts and waiting time of a call, in the extensions of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// Number of attempts, including the one with this response.
    pub attempts: u32,
    /// Time that the call has waited in the throttle.
    pub time: Duration,
    /// Reason of the latest wait. It has no meaning if the call did not wait.
    pub reason: WaitReason,
}

impl ThrottleMiddleware {
    /// Creates a middleware with one throttle per scheme, host and port, with default settings.
    ///
    /// # Errors
    /// Fails if the strategy may retry a call for ever, or has parts for experiments only.
    pub fn per_host(strategy: &StrategySpec) -> Result<Self, BuildError> {
        Self::with_settings(Builder::new(strategy.clone()))
    }

    /// Creates a middleware with one throttle per scheme, host and port, with these settings.
    ///
    /// # Errors
    /// Fails as [`Builder::build`].
    pub fn with_settings(builder: Builder) -> Result<Self, BuildError> {
        Self::per(builder, |request| {
            let url = request.url();
            Origin {
                scheme: url.scheme().to_owned(),
                host: url.host_str().unwrap_or_default().to_owned(),
                port: url.port_or_known_default(),
            }
        })
    }
}

impl<K: Hash + Eq + Send + 'static> ThrottleMiddleware<K> {
    /// Creates a middleware with one throttle for each key that `key` returns for a request, such as an account or a route.
    ///
    /// # Errors
    /// Fails as [`Builder::build`].
    pub fn per(
        builder: Builder,
        key: impl Fn(&Request) -> K + Send + Sync + 'static,
    ) -> Result<Self, BuildError> {
        let attempt_timeout = builder.options.attempt_timeout;
        let throttles = Throttles::with_settings(builder)?;
        Ok(Self { throttles, key: Box::new(key), attempt_timeout, retries_unsafe: false })
    }

    /// Retries failures of all methods, as if every request were idempotent.
    #[must_use]
    pub fn retry_unsafe(mut self) -> Self {
        self.retries_unsafe = true;
        self
    }

    fn repeats(&self, request: &Request) -> Repeats {
        let is_idempotent = Method::named(request.method().as_str()).is_idempotent()
            || request.headers().contains_key(IDEMPOTENCY_KEY)
            || self.retries_unsafe;
        if is_idempotent { Repeats::All } else { Repeats::Unprocessed }
    }
}

#[async_trait]
impl<K: Hash + Eq + Send + 'static> Middleware for ThrottleMiddleware<K> {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Chain<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let throttle = self.throttles.get((self.key)(&request)).map_err(Error::middleware)?;
        let mut call = throttle.call(self.repeats(&request)).map_err(Error::middleware)?;
        let mut request = Some(request);
        let mut last = None;
        loop {
            let attempt = match call.admitted().await {
                Ok(attempt) => attempt,
                Err(refused) => return last.unwrap_or_else(|| Err(Error::middleware(refused))),
            };
            // The response before may occupy a connection.
            drop(last.take());
            let clone = request.as_ref().and_then(Request::try_clone);
            let (sent, is_last) = match clone {
                Some(clone) => (clone, false),
                None => match request.take() {
                    Some(request) => (request, true),
                    None => return Err(Error::middleware(Refused::Closed)),
                },
            };
            let run = next.clone().run(sent, extensions);
            let result = match self.attempt_timeout {
                None => Some(run.await),
                Some(limit) => tokio::time::timeout(limit, run).await.ok(),
            };
            let (ended, result) = match result {
                Some(Ok(mut response)) => {
                    let ended = call.ended(response.classify());
                    let waited =
                        Waited { attempts: attempt.number, time: attempt.waited, reason: attempt.reason };
                    response.extensions_mut().insert(waited);
                    (ended, Ok(response))
                }
                Some(Err(error)) => (call.ended(error.classify()), Err(error)),
                None => {
                    let limit = self.attempt_timeout.unwrap_or_default();
                    let error = ThrottleError::<reqwest::Error>::AttemptTimeout(limit);
                    (call.ended(Seen::NoResponse(Missing::Timeout)), Err(Error::middleware(error)))
                }
            };
            if ended == Next::Done || is_last {
                return result;
            }
            last = Some(result);
        }
    }
}

impl<K> fmt::Debug for ThrottleMiddleware<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrottleMiddleware").field("throttles", &self.throttles).finish_non_exhaustive()
    }
}
