//! HTTP/2 transport, which carries many attempts on one connection. With TLS, both sides agree on HTTP/2 during the handshake. Without TLS
//! nothing is negotiated, so the server must accept HTTP/2 at once (prior knowledge).

mod link;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http::uri::PathAndQuery;
use http::{Request, Uri};
use loadgen_core::{ErrorKind, SentAttempt};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, sleep, timeout_at};

use self::link::{Carried, Link};
use super::dialer::Dialer;
use super::{Common, Connecting, KeptBody, Naming, Step, Transport, WarmUp};
use crate::config::{TransportConfig, TransportError};
use crate::control::locked;

/// Waits before a request that the server did not process, or that found no open connection, is tried again, in real time. There is one
/// entry for each time.
const RESEND_WAITS: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];

#[derive(Clone)]
pub(crate) struct Http2Transport {
    shared: Arc<Shared>,
}

struct Shared {
    common: Common,
    dialer: Dialer,
    wanted: AtomicUsize,
    links: Mutex<Vec<Arc<Link>>>,
    /// Lock that permits only one connection to be opened at a time. Attempts that arrive meanwhile wait for the new connection and then
    /// use it.
    opening: AsyncMutex<()>,
    /// Maximum number of attempts in flight: the streams that the server allows on all connections, and one for each missing connection,
    /// which opens it.
    allowed: AtomicUsize,
    grown: Notify,
    /// Number of times that a request was sent again, because the server did not process it.
    resent: AtomicU64,
}

impl Shared {
    /// Returns the HTTP/2 connection with the fewest streams, among those with a free stream if there are any. Returns `None` if fewer
    /// connections are open than wanted, because the caller should then open another one.
    fn min_busy(&self) -> Option<Arc<Link>> {
        let links = locked(&self.links);
        let open = || links.iter().filter(|link| !link.is_over());
        let enough = open().count() >= self.wanted.load(Relaxed);
        let least = || open().min_by_key(|link| (link.streams() >= link.allowed(), link.streams()));
        enough.then(least).flatten().cloned()
    }

    async fn link(self: &Arc<Self>) -> Result<Arc<Link>, ErrorKind> {
        if let Some(link) = self.min_busy() {
            return Ok(link);
        }
        let _first = self.opening.lock().await;
        if let Some(link) = self.min_busy() {
            return Ok(link);
        }
        self.open().await
    }

    /// Opens a connection of its own for a request, if there may be one more and the server accepts it.
    async fn own_link(self: &Arc<Self>) -> Result<Arc<Link>, ErrorKind> {
        let first = self.opening.lock().await;
        if locked(&self.links).len() < self.common.connecting.most()
            && let Ok(link) = self.open().await
        {
            return Ok(link);
        }
        drop(first);
        self.link().await
    }

    async fn open(self: &Arc<Self>) -> Result<Arc<Link>, ErrorKind> {
        let open = async {
            let stream = self.dialer.dial().await?;
            let shared = Arc::downgrade(self);
            let on_change = move || {
                if let Some(shared) = shared.upgrade() {
                    shared.look_at_room();
                }
            };
            Link::open(stream, on_change).await
        };
        // The future is boxed, because the large future of a TLS handshake would otherwise be part of the future of every attempt.
        let link = self.common.connecting.open(Box::pin(open)).await?;
        locked(&self.links).push(link.clone());
        self.look_at_room();
        Ok(link)
    }

    /// Updates the number of allowed attempts, because servers may change their limits at any time. Removes connections that have ended.
    fn look_at_room(&self) {
        let mut links = locked(&self.links);
        links.retain(|link| !link.is_over() || link.streams() > 0);
        let open = links.iter().filter(|link| !link.is_over()).count();
        let missing = self.wanted.load(Relaxed).saturating_sub(open);
        let allowed = links.iter().fold(missing, |sum, link| sum.saturating_add(link.allowed()));
        drop(links);
        if self.allowed.swap(allowed, Relaxed) < allowed {
            self.grown.notify_one();
        }
    }

    /// Opens a connection and determines how many streams the server allows. If the server is a mockserver, it must also answer an admin
    /// request, which does not count as work. Returns whether the connection is ready. If a mockserver does not answer in time, its
    /// connection is not used again.
    async fn warm(self: &Arc<Self>, deadline: Instant) -> bool {
        let Ok(Ok(link)) = timeout_at(deadline, self.link()).await else { return false };
        if !self.common.is_mock {
            return true;
        }
        let plain = self.common.prepared.plain();
        let mut request = Request::new(());
        let mut parts = plain.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::from_static("/_mock/capacity"));
        let Ok(question) = Uri::from_parts(parts) else { return false };
        *request.uri_mut() = question;
        request.headers_mut().clone_from(&plain.headers);
        let carried = timeout_at(deadline, link.carry(request, Bytes::new(), |_| KeptBody::default())).await;
        let is_ready = matches!(carried, Ok(Carried::Answered { .. }));
        if !is_ready {
            locked(&self.links).retain(|other| !Arc::ptr_eq(other, &link));
        }
        self.look_at_room();
        is_ready
    }
}

impl Transport for Http2Transport {
    const NAME: &'static str = "hyper-http2";
    const SUMMARY: &'static str = "HTTP/2 with h2: attempts are streams of few connections";

    type Link = ();

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let wanted = config.http2_connections.get().min(config.max_connections.max(1));
        let shared = Shared {
            common: Common::new(&config, Naming::Whole, Connecting::new(config.max_connections))?,
            dialer: Dialer::new(&config, &[b"h2"])?,
            wanted: AtomicUsize::new(wanted),
            links: Mutex::default(),
            opening: AsyncMutex::new(()),
            allowed: AtomicUsize::new(wanted),
            grown: Notify::new(),
            resent: AtomicU64::new(0),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn warm_up(&self, _count: usize, patience: Duration) -> WarmUp {
        let deadline = Instant::now() + patience;
        let wanted = self.shared.wanted.load(Relaxed);
        let mut ready = 0;
        for _ in 0..wanted {
            ready += usize::from(self.shared.warm(deadline).await);
        }
        WarmUp { wanted, ready }
    }

    fn limit_connections(&self, connections: usize) {
        if self.common().is_mock {
            self.shared.wanted.fetch_min(connections, Relaxed);
            self.shared.look_at_room();
        }
    }

    fn common(&self) -> &Common {
        &self.shared.common
    }

    async fn exchange(
        &self,
        _link: &mut (),
        attempt: &SentAttempt,
        step: &Step,
        mut read: impl FnMut(&Parts, &[u8]) + Send,
    ) -> Result<(), ErrorKind> {
        let shared = &self.shared;
        let mut tried = 0;
        let mut refused_by: Option<Arc<Link>> = None;
        loop {
            let mut body = Bytes::new();
            let request = shared.common.prepared.render(attempt, step).request(|rendered| body = rendered);
            let link = match refused_by.take() {
                // `h2` holds the request until the connection has a free stream under the limit that the server announced.
                Some(link) if !link.is_over() => Ok(link),
                // A request that lost its place on two connections opens its own, so that it is the first one there. Otherwise, newer
                // requests could always be faster.
                _ if tried > 1 => shared.own_link().await,
                _ => shared.link().await,
            };
            let carried = match &link {
                Ok(link) => {
                    link.carry(request, body, |status| shared.common.understanding.body(status.as_u16()))
                        .await
                }
                Err(ErrorKind::GoAway) => Carried::Unsent,
                Err(kind) => Carried::Lost(*kind),
            };
            shared.look_at_room();
            let (kind, was_sent) = match carried {
                Carried::Answered { head, body } => {
                    read(&head, &body);
                    return Ok(());
                }
                Carried::Unsent => (ErrorKind::GoAway, false),
                Carried::Unprocessed(kind) => {
                    refused_by = link.ok().filter(|_| kind == ErrorKind::StreamReset);
                    (kind, true)
                }
                Carried::Lost(kind) => return Err(kind),
            };
            let Some(wait) = RESEND_WAITS.get(tried) else { return Err(kind) };
            if !wait.is_zero() {
                sleep(*wait).await;
            }
            tried += 1;
            shared.resent.fetch_add(was_sent.into(), Relaxed);
        }
    }

    fn room(&self) -> usize {
        self.shared.allowed.load(Relaxed)
    }

    async fn grown(&self) {
        self.shared.grown.notified().await;
    }

    /// Updates the room, because an attempt was the last one on its connection, perhaps. The connection's own task reports the end of the
    /// connection.
    fn on_lost(&self) {
        self.shared.look_at_room();
    }

    fn resent(&self) -> u64 {
        self.shared.resent.load(Relaxed)
    }
}
