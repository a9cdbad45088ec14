//! How an attempt reaches a server: what a transport is built from, what it does, and what it brings back.

use std::future::Future;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method};
use loadgen_core::{Cause, Classifier, ErrorKind, Latencies, Launched, OperationKind, Requests, ServerSeen};
use tailback::{Facts, Failure, Outcome, Reading, Status};
use vocabulary::wire::RunId;
use vocabulary::{TimeScale, WallTime};

use crate::target::Target;

/// Carries attempts to a server.
///
/// An implementation retries nothing, follows no redirect, and queues nothing silently: what waits for a
/// connection is counted. Dropping the future of [`send`](Self::send) withdraws the attempt. Clones share their
/// connections.
pub trait Transport: Clone + Send + Sync + 'static {
    /// By what it is chosen, in kebab case.
    const NAME: &'static str;
    /// What it is, in one line.
    const SUMMARY: &'static str;

    /// A transport without connections.
    ///
    /// # Errors
    /// When it cannot be set up (certificates, headers).
    fn build(config: TransportConfig) -> Result<Self, TransportError>;

    /// Opens up to `count` connections before the run, as far as the server does not take that for work, and waits for them no
    /// longer than `patience` (real time). A connection to a mockserver is ready once the server has answered on it.
    fn warm_up(&self, count: usize, patience: Duration) -> impl Future<Output = WarmUp> + Send;

    /// Keeps to `connections` from now on, because a mockserver has accepted no more during the warm-up. Other servers were not
    /// asked to answer, so that nothing is known of them.
    fn limit_connections(&self, connections: usize);

    /// Sends the attempt and reads the whole answer.
    fn send(&self, attempt: Launched) -> impl Future<Output = Answer> + Send;

    /// How many attempts may be under way at once: one on every open connection, and a few that open one. Who sends
    /// more makes them queue inside the transport, where nobody counts.
    fn room(&self) -> usize;

    /// Returns when [`room`](Self::room) has grown.
    fn grown(&self) -> impl Future<Output = ()> + Send;

    /// An attempt failed or was withdrawn, and took its connection with it.
    fn on_lost(&self);

    /// Connections opened so far.
    fn connections(&self) -> u64;

    /// How long each of them took to open, in real time.
    fn connect_times(&self) -> Latencies;
}

/// Outcome of a warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUp {
    /// Connections to be opened.
    pub wanted: usize,
    /// Connections that were ready in time.
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

/// What a transport is built from: all that a run knows about its attempts before the first one.
#[derive(Clone, Debug)]
pub struct TransportConfig {
    /// Where attempts go.
    pub target: Target,
    /// What every attempt sends.
    pub request: RequestTemplate,
    /// By what a mockserver knows the run; `None` towards any other server.
    pub run: Option<RunHeaders>,
    /// What statuses mean.
    pub classifier: Classifier,
    /// What the strategy wants to know of answers.
    pub reading: Arc<Reading>,
    /// What an attempt does.
    pub kind: OperationKind,
    /// What ops ask for, where that differs by op: kinds have methods and paths of their own instead of those above.
    pub requests: Requests,
    /// The run's seed, which keys that.
    pub seed: u64,
    /// The longest that an attempt may take, in real time: connects may take no longer.
    pub timeout: Duration,
    /// Attempts beyond so many wait for a connection to be free.
    pub most_connections: usize,
    /// Addresses of this machine that connections come from, in turn; with none, the system chooses.
    pub local_addresses: Arc<[IpAddr]>,
    /// Threads that carry attempts, each with connections of its own; the state machine is on the first.
    pub threads: NonZero<usize>,
    /// Over HTTP/2: connections of each thread that attempts are spread over.
    pub http2_connections: NonZero<usize>,
    /// Servers that do not know the run advise in real time.
    pub scale: TimeScale,
}

/// What every attempt of a run sends.
#[derive(Clone, Debug, Default)]
pub struct RequestTemplate {
    /// The method, unless kinds of requests have their own.
    pub method: Method,
    /// Headers besides those of the run.
    pub headers: HeaderMap,
    /// The body.
    pub body: bytes::Bytes,
}

/// Headers by which a mockserver knows the run; sent to nobody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunHeaders {
    /// The run's id.
    pub run: RunId,
    /// The run's seed.
    pub seed: u64,
    /// Which shard of the run's clients this is, if they come in shards: it is counted apart.
    pub shard: Option<u32>,
    /// The calendar when the server started: what it tells a run is in the experiment's time, dates included.
    pub anchor: WallTime,
}

/// A transport could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The certificates to trust could not be read.
    #[error("the certificates given by `--cacert` could not be read as PEM")]
    Roots(#[source] rustls::pki_types::pem::Error),
    /// The certificates to trust cannot be used.
    #[error("the certificates given by `--cacert` cannot be trusted")]
    Untrustable(#[source] rustls::Error),
    /// A header value that HTTP does not allow.
    #[error("the target's host cannot be sent as a header")]
    Host(#[source] http::header::InvalidHeaderValue),
    /// A kind of request whose method or path HTTP does not allow here.
    #[error("`{0}` (--mix) cannot be sent to this target")]
    Kind(String),
    /// A path that HTTP does not allow.
    #[error("the target's path `{0}` cannot be sent")]
    Path(String),
    /// Reqwest sends from one address.
    #[error("reqwest sends from one address; give one (`--local-address`), or `--transport hyper`")]
    Addresses,
    /// Anything else.
    #[error("the HTTP client could not be set up")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How the attempt ended, and the server's advice.
    pub outcome: Outcome,
    /// What the answer told of a mockserver.
    pub server: Option<ServerSeen>,
    /// How long not to come again, as the answer says by itself, in experiment time.
    pub told: Option<Duration>,
    /// What came on the wire; nothing when the attempt was withdrawn.
    pub cause: Option<Cause>,
    /// Whether somebody between answered, and not the mockserver that was recognised.
    pub by_gateway: bool,
}

impl Answer {
    /// None came that can be used, for this reason.
    pub fn none(kind: ErrorKind) -> Self {
        let facts = Facts::missing(kind.missing());
        let outcome = Outcome { facts, ..Outcome::plain(Status::Failed(Failure::Transport)) };
        Self { outcome, server: None, told: None, cause: Some(Cause::Error(kind)), by_gateway: false }
    }

    /// None is expected any more.
    pub fn withdrawn() -> Self {
        Self {
            outcome: Outcome::plain(Status::Cancelled),
            server: None,
            told: None,
            cause: None,
            by_gateway: false,
        }
    }
}
