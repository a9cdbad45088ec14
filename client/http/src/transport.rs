//! Transports, which carry attempts to a server: their trait, their configuration, and their answers.

use std::future::Future;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method};
use loadgen_core::{Cause, Classifier, ErrorKind, Latencies, Launched, OperationKind, Requests, ServerSeen};
use tailback::{Facts, Failure, Outcome, ResponseParser, Status};
use vocabulary::wire::RunId;
use vocabulary::{TimeScale, WallTime};

use crate::target::Target;

/// Carries attempts to a server.
///
/// An implementation never retries, never follows a redirect, and never queues silently: attempts that wait for a connection are
/// counted. Dropping the future of [`send`](Self::send) withdraws the attempt. Clones share their connections.
pub trait Transport: Clone + Send + Sync + 'static {
    /// Name by which users choose the transport, in kebab case.
    const NAME: &'static str;
    const SUMMARY: &'static str;

    /// Creates a transport without connections.
    ///
    /// # Errors
    /// If it cannot be set up (certificates, headers).
    fn build(config: TransportConfig) -> Result<Self, TransportError>;

    /// Opens up to `count` connections before the run, if the server does not count that as work, and waits for them at most
    /// `patience` (real time). A connection to a mockserver is ready once the server has answered on it.
    fn warm_up(&self, count: usize, patience: Duration) -> impl Future<Output = WarmUp> + Send;

    /// Limits the transport to `connections`, because a mockserver accepted no more during the warm-up. Other servers were not
    /// required to answer, so nothing is known about them.
    fn limit_connections(&self, connections: usize);

    fn send(&self, attempt: Launched) -> impl Future<Output = Answer> + Send;

    /// Returns the maximum number of attempts in flight: one on each open connection, and a few that open one. More attempts
    /// would queue inside the transport, where they are not counted.
    fn room(&self) -> usize;

    /// Waits until [`room`](Self::room) has grown.
    fn grown(&self) -> impl Future<Output = ()> + Send;

    /// Records that an attempt failed or was withdrawn, and took its connection with it.
    fn on_lost(&self);

    fn connections(&self) -> u64;

    /// Returns the durations of all connects, in real time.
    fn connect_times(&self) -> Latencies;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUp {
    pub wanted: usize,
    /// Number of connections that were ready in time.
    pub ready: usize,
}

/// Makes `count` attempts at a connection at once, and returns how many succeeded within `patience`.
pub(crate) async fn ready_in_time<F>(count: usize, patience: Duration, attempt: impl Fn() -> F) -> usize
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
    /// Headers that identify the run to a mockserver; `None` for any other server.
    pub run: Option<RunHeaders>,
    pub classifier: Classifier,
    pub reading: Arc<ResponseParser>,
    pub kind: OperationKind,
    /// Parts of requests that differ by op. The methods and paths of kinds replace those of `request` and `target`.
    pub requests: Requests,
    /// Seed of the run, which keys the draws of `requests`.
    pub seed: u64,
    /// Maximum duration of an attempt and of a connect, in real time.
    pub timeout: Duration,
    /// Maximum number of connections. Further attempts wait for a free one.
    pub most_connections: usize,
    /// Local addresses of the connections, used in turn; if empty, the system chooses.
    pub local_addresses: Arc<[IpAddr]>,
    /// Number of threads that carry attempts, each with its own connections. The state machine runs on the first.
    pub threads: NonZero<usize>,
    /// Number of HTTP/2 connections of each thread, over which attempts are spread.
    pub http2_connections: NonZero<usize>,
    /// Scale for advice in real time, from servers that do not receive the run's headers.
    pub scale: TimeScale,
}

#[derive(Clone, Debug, Default)]
pub struct RequestTemplate {
    pub method: Method,
    /// Headers in addition to those of the run.
    pub headers: HeaderMap,
    pub body: bytes::Bytes,
}

/// Headers that identify the run to a mockserver. Other servers never receive them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunHeaders {
    pub run: RunId,
    pub seed: u64,
    /// Shard of the run's clients, if they are sharded; each shard is counted separately.
    pub shard: Option<u32>,
    /// Wall-clock time at which the server started. Its answers to a run are in experiment time, including dates.
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
    #[error("`{0}` (--mix) cannot be sent to this target")]
    Kind(String),
    #[error("the target's path `{0}` cannot be sent")]
    Path(String),
    #[error("reqwest sends from one address; give one (`--local-address`), or `--transport hyper`")]
    Addresses,
    #[error("the HTTP client could not be set up")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub outcome: Outcome,
    pub server: Option<ServerSeen>,
    /// Retry delay that the answer itself advertises, in experiment time.
    pub advised_wait: Option<Duration>,
    /// Status or error on the wire; `None` if the attempt was withdrawn.
    pub cause: Option<Cause>,
    /// True if an intermediary answered instead of the recognised mockserver.
    pub by_gateway: bool,
}

impl Answer {
    pub fn none(kind: ErrorKind) -> Self {
        let facts = Facts::missing(kind.missing());
        let outcome = Outcome { facts, ..Outcome::plain(Status::Failed(Failure::Transport)) };
        Self { outcome, server: None, advised_wait: None, cause: Some(Cause::Error(kind)), by_gateway: false }
    }

    pub fn withdrawn() -> Self {
        Self {
            outcome: Outcome::plain(Status::Cancelled),
            server: None,
            advised_wait: None,
            cause: None,
            by_gateway: false,
        }
    }
}
