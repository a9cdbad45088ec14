//! Transports, which send attempts to a server: their trait, their configuration, and their answers.

pub(crate) mod connecting;
pub(crate) mod dialer;
mod exchange;
mod http2;
pub(crate) mod http_client;
mod hyper;
pub(crate) mod registry;
mod reqwest;

use std::future::Future;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::time::Duration;

use http::response::Parts;
use http::{HeaderMap, Method};
use loadgen_core::{AttemptResult, Classifier, ErrorKind, Latencies, OperationKind, Requests, SentAttempt};
use tailback::ResponseParser;
use vocabulary::wire::RunId;
use vocabulary::{TimeScale, WallTime};

use crate::request::{Naming, Prepared, Step};
use crate::response::ResponseClassifier;
use crate::response::kept_body::{KeptBody, SearchedBodies};
use crate::target::Target;
use crate::transport::connecting::Connecting;
use crate::transport::exchange::attempt;

/// Sends attempts to a server and receives the answers.
///
/// An implementation never follows a redirect, and never retries what a server may have processed. Requests that the server reports as not
/// processed (HTTP/2) are sent again, and counted by [`resent`](Self::resent). An implementation never queues attempts unnoticed: attempts
/// that wait for a connection are counted. Dropping the future of [`send`](Self::send) withdraws the attempt. Clones of a transport share
/// their connections.
pub(crate) trait Transport: Clone + Send + Sync + 'static {
    /// Name by which users choose the transport, in kebab case.
    const NAME: &'static str;
    const SUMMARY: &'static str;

    /// Creates a transport without connections.
    ///
    /// # Errors
    /// Fails if the transport cannot be set up because of the certificates or headers.
    fn build(config: TransportConfig) -> Result<Self, TransportError>;

    /// Opens up to `count` connections before the run, and waits for them for at most `patience` (real time). Opens none if the server
    /// would count them as work. A connection to a mockserver is ready once the mockserver has answered on it.
    fn warm_up(&self, count: usize, patience: Duration) -> impl Future<Output = WarmUp> + Send;

    /// Limits the transport to `connections` connections, because a mockserver accepted no more during the warm-up. For other servers it
    /// does nothing, because they need not answer during the warm-up.
    fn limit_connections(&self, connections: usize) {
        if self.common().is_mock {
            self.common().connecting.limit(connections);
        }
    }

    fn common(&self) -> &Common;

    /// Sends one request of an attempt and reads the answer completely, so that the connection can be reused. Returns the head and the body
    /// of the answer. An incomplete answer is an error.
    fn exchange(
        &self,
        attempt: &SentAttempt,
        step: &Step,
    ) -> impl Future<Output = Result<(Parts, KeptBody), ErrorKind>> + Send;

    fn send(&self, launched: SentAttempt) -> impl Future<Output = AttemptResult> + Send {
        async move {
            let _request = self.common().connecting.begin_request();
            attempt(self, &launched).await.unwrap_or_else(AttemptResult::failed)
        }
    }

    /// Returns the maximum number of attempts in flight. It permits one attempt on each open connection, and a few more that open a
    /// connection. Further attempts would queue inside the transport, where they are not counted.
    fn room(&self) -> usize {
        self.common().connecting.room()
    }

    /// Waits until the transport has room for more attempts, that is, until the result of [`room`](Self::room) has increased.
    fn grown(&self) -> impl Future<Output = ()> + Send {
        self.common().connecting.grown()
    }

    /// Records the loss of a connection, because its attempt failed or was withdrawn.
    fn on_lost(&self);

    fn connections(&self) -> u64 {
        self.common().connecting.count()
    }

    /// Returns the times that opening each connection took, in real time.
    fn connect_times(&self) -> Latencies {
        self.common().connecting.opened()
    }

    /// Returns how often a request was sent again, because the server reported that it did not process the request.
    fn resent(&self) -> u64 {
        0
    }
}

/// Parts of every transport: the requests, the parser of their answers, and the connections.
#[derive(Debug)]
pub(crate) struct Common {
    prepared: Prepared,
    understanding: ResponseClassifier,
    connecting: Connecting,
    /// True if the server is a mockserver, which does not count requests to its admin endpoint as work.
    is_mock: bool,
}

impl Common {
    fn new(config: &TransportConfig, naming: Naming, connecting: Connecting) -> Result<Self, TransportError> {
        Ok(Self {
            prepared: Prepared::new(config, naming)?,
            understanding: ResponseClassifier::new(config),
            connecting,
            is_mock: config.run.is_some(),
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUp {
    pub wanted: usize,
    /// Number of connections that were ready within the allowed time.
    pub ready: usize,
}

/// Calls `attempt` `count` times concurrently. Each call gets one connection ready. Returns the number of calls that succeeded within
/// `patience`.
async fn ready_in_time<F>(count: usize, patience: Duration, attempt: impl Fn() -> F) -> usize
where
    F: Future<Output = bool> + Send + 'static,
{
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..count {
        attempts.spawn(tokio::time::timeout(patience, attempt()));
    }
    attempts.join_all().await.into_iter().filter(|ready| matches!(ready, Ok(true))).count()
}

#[derive(Clone, Debug)]
pub struct TransportConfig {
    pub target: Target,
    pub request: RequestTemplate,
    /// Headers that identify the run to a mockserver; `None` if the server is not a mockserver.
    pub run: Option<RunHeaders>,
    pub classifier: Classifier,
    /// Status of the latest head of an answer that arrived, or 0. Its body may not have arrived.
    pub last_head: Arc<AtomicU16>,
    pub reading: Arc<ResponseParser>,
    pub kind: OperationKind,
    /// Parts of requests that differ between ops. The method of a request kind replaces the method of `request`, and the kind's path is
    /// appended to the path of `target`.
    pub requests: Requests,
    /// Seed of the run, from which the kind and API key of each op are drawn.
    pub seed: u64,
    /// Maximum duration of an attempt, and also of opening a connection, in real time.
    pub timeout: Duration,
    /// Maximum number of connections. If all are in use, further attempts wait.
    pub max_connections: usize,
    /// Local addresses that connections use in turn. If the list is empty, the system chooses.
    pub local_addresses: Arc<[IpAddr]>,
    /// Number of threads that carry attempts, each with connections of its own. The state machine runs on the first thread.
    pub threads: NonZero<usize>,
    /// Number of HTTP/2 connections that each thread opens. The attempts of a thread are distributed over its connections.
    pub http2_connections: NonZero<usize>,
    /// Ratio of real time to experiment time. Servers that do not receive the run's headers give retry advice in real time. The ratio is
    /// used to convert this advice.
    pub scale: TimeScale,
    pub searched: Arc<SearchedBodies>,
}

#[derive(Clone, Debug, Default)]
pub struct RequestTemplate {
    pub method: Method,
    /// Headers of each request, in addition to the headers that identify the run.
    pub headers: HeaderMap,
    pub body: bytes::Bytes,
}

/// Headers that identify the run to a mockserver. Other servers never receive them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunHeaders {
    pub run: RunId,
    pub seed: u64,
    /// Wall-clock time at which the server started. In its answers to a run, the server uses experiment time, also for dates.
    pub anchor: WallTime,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    #[error("the certificates given by `--cacert` could not be read as PEM")]
    Roots(#[source] rustls::pki_types::pem::Error),
    #[error("the certificates given by `--cacert` cannot be trusted")]
    Untrustable(#[source] rustls::Error),
    #[error("the target's host cannot be sent as a header")]
    Host(#[source] http::header::InvalidHeaderValue),
    #[error("the path `{0}` (--mix) cannot be sent to this target")]
    Kind(String),
    #[error("the target's path `{0}` cannot be sent")]
    Path(String),
    #[error("reqwest supports one source address; give one (`--local-address`), or use `--transport hyper`")]
    Addresses,
    #[error("the HTTP client could not be set up")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}
