//! Configuration of a transport, and the errors of setting one up.

use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::time::Duration;

use http::{HeaderMap, Method};
use loadgen_core::{Classifier, OperationKind, Requests};
use tailback::ResponseParser;
use vocabulary::{TimeScale, WallTime};
use wire::RunId;

use crate::response::kept_body::SearchedBodies;
use crate::target::Target;

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
    /// Whether connections are used for further requests. If not, requests have the header `Connection: close`.
    pub keep_alive: bool,
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
    #[error("the certificates given by `--cacert` or `--cert` could not be read as PEM")]
    Roots(#[source] rustls::pki_types::pem::Error),
    #[error(
        "nothing could be read from a file given by `--cacert`, `--cert` or `--key`; write it in PEM form, without a byte \
         order mark"
    )]
    Nothing,
    #[error(
        "a file given by `--cacert`, `--cert` or `--key` ends within a certificate or a key; copy the whole file"
    )]
    CutOff,
    #[error("the certificates given by `--cacert` cannot be trusted")]
    Untrustable(#[source] rustls::Error),
    #[error("the private key of the client certificate (`--key`, or in `--cert`) could not be read as PEM")]
    Key(#[source] rustls::pki_types::pem::Error),
    #[error(
        "the private key (`--key`, or in `--cert`) does not belong to the client certificate (`--cert`); \
         give the key that was made for it"
    )]
    OtherKey,
    #[error(
        "the private key of the client certificate (`--key`, or in `--cert`) cannot be used; RSA, P-256, P-384 and Ed25519 \
         are accepted"
    )]
    Identity(#[source] rustls::Error),
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
