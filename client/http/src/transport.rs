//! Transports, which send attempts to a server: their trait, and the parts that all of them have.

pub(crate) mod connecting;
pub(crate) mod dialer;
pub(crate) mod exchange;
mod http2;
pub(crate) mod http_client;
mod hyper;
pub(crate) mod registry;
mod reqwest;

use std::future::Future;
use std::time::Duration;

use http::response::Parts;
use loadgen_core::{ErrorKind, Latencies, SentAttempt};

use crate::config::{TransportConfig, TransportError};
use crate::request::{Naming, Prepared, Step};
use crate::response::ResponseClassifier;
use crate::response::kept_body::KeptBody;
use crate::transport::connecting::Connecting;

/// Sends attempts to a server and receives the answers.
///
/// An implementation never follows a redirect, and never retries what a server may have processed. Requests that the server reports as not
/// processed (HTTP/2) are sent again, and counted by [`resent`](Self::resent). An implementation never queues attempts unnoticed: attempts
/// that wait for a connection are counted. Dropping the future of [`exchange`](Self::exchange) withdraws the attempt. Clones of a transport share
/// their connections.
pub(crate) trait Transport: Clone + Send + Sync + 'static {
    /// Name by which users choose the transport, in kebab case.
    const NAME: &'static str;
    const SUMMARY: &'static str;

    /// State that a worker keeps between attempts, such as its connection.
    type Link: Default + Send;

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

    /// Sends one request of an attempt and reads the answer completely, so that the connection can be reused. Passes the head and the kept
    /// body of the answer to `read`: where it arrives, because moving an answer up to the caller would take long. An incomplete answer is an
    /// error.
    fn exchange(
        &self,
        link: &mut Self::Link,
        attempt: &SentAttempt,
        step: &Step,
        read: impl FnMut(&Parts, &[u8]) + Send,
    ) -> impl Future<Output = Result<(), ErrorKind>> + Send;

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
