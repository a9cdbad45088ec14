//! Limit on simultaneous connection attempts ("connects"), and measurement of their durations.
//!
//! Without a limit, a burst of requests that finds no open connections opens one connection for each request. In the end the process has no
//! file descriptors left.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Instant;

use loadgen_core::Latencies;
use tokio::sync::{Notify, Semaphore};
use tower::{Layer, Service};

use crate::control::locked;

/// Maximum number of simultaneous connects. A connect costs as much as several attempts. Without this limit, a short delay would cause more
/// connects than the machine can process, and so even more delay.
const CONNECTS_AT_ONCE: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Connecting {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    places: Semaphore,
    opened: Mutex<Latencies>,
    /// Maximum number of open connections. Each connection needs a file descriptor.
    most: AtomicUsize,
    /// Estimated number of open connections. It is not exact, because it is not always known whether a connection has ended.
    open: AtomicUsize,
    /// Number of requests inside the HTTP client. A request is counted as soon as its future is first polled.
    requests: AtomicUsize,
    /// Number of connects that are in progress or wait for a permit.
    pending: AtomicUsize,
    grown: Notify,
}

impl Connecting {
    pub(crate) fn new(most: usize) -> Self {
        let shared = Shared {
            most: AtomicUsize::new(most),
            places: Semaphore::new(CONNECTS_AT_ONCE),
            opened: Mutex::default(),
            open: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
            grown: Notify::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn most(&self) -> usize {
        self.shared.most.load(Relaxed)
    }

    pub(crate) fn limit(&self, most: usize) {
        self.shared.most.fetch_min(most, Relaxed);
    }

    /// Returns the maximum number of simultaneous requests. It includes requests for which a connection is open, and requests that may open
    /// one.
    pub(crate) fn room(&self) -> usize {
        // The count `open` is partly a guess, because a lost attempt may or may not have lost its connection. A lower bound of it is the
        // number of requests that open none.
        let Shared { open, requests, pending, .. } = &*self.shared;
        let (requests, pending) = (requests.load(Relaxed), pending.load(Relaxed));
        let used = requests.saturating_sub(pending);
        let open = open.fetch_max(used, Relaxed).max(used);
        // A pool continues a connect whose request got another connection. Without this limit, such connects would pile up.
        let surplus = pending.saturating_sub(requests.saturating_sub(open));
        (open + CONNECTS_AT_ONCE.saturating_sub(surplus)).max(1).min(self.most())
    }

    pub(crate) fn begin_request(&self) -> Counted<'_> {
        Counted::new(&self.shared.requests)
    }

    /// Opens a connection as soon as the limit on simultaneous connects permits it. Records the duration of the connect including the wait
    /// for a permit.
    pub(crate) async fn open<T, E>(&self, connect: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let shared = &self.shared;
        let asked = Instant::now();
        let pending = Counted::new(&shared.pending);
        let _place = shared.places.acquire().await.expect("the semaphore is never closed");
        let connection = connect.await?;
        locked(&shared.opened).record(asked.elapsed());
        shared.open.fetch_add(1, Relaxed);
        drop(pending);
        shared.grown.notify_one();
        Ok(connection)
    }

    /// Waits until a connection is opened. Returns at once if one was opened since the previous call returned.
    pub(crate) async fn grown(&self) {
        self.shared.grown.notified().await;
    }

    pub(crate) fn on_lost(&self) {
        let one_less = |open: usize| open.checked_sub(1);
        // A failed connect is also reported as a lost connection, although no connection was open. So the count may already be 0, and it
        // then stays 0.
        let _ = self.shared.open.fetch_update(Relaxed, Relaxed, one_less);
    }

    pub(crate) fn opened(&self) -> Latencies {
        locked(&self.shared.opened).clone()
    }

    pub(crate) fn count(&self) -> u64 {
        locked(&self.shared.opened).count()
    }
}

/// Guard of an open connection. The connection counts as open until the guard is dropped. Used by transports that observe the end of each
/// of their connections.
#[derive(Debug)]
pub(crate) struct Open(pub Connecting);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.on_lost();
    }
}

/// Guard that is included in a count until it is dropped.
pub(crate) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(crate) fn new(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Relaxed);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl<S> Layer<S> for Connecting {
    type Service = MeasuredConnector<S>;

    fn layer(&self, inner: S) -> Self::Service {
        MeasuredConnector { inner: Arc::new(Mutex::new(inner)), connecting: self.clone() }
    }
}

/// Connector that respects the limit on simultaneous connects.
///
/// The connection pool clones its connector for every attempt, even if no connection is opened. The wrapped connector is expensive to
/// clone. So all clones share it, and it is cloned only when a connection is really opened.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredConnector<S> {
    inner: Arc<Mutex<S>>,
    connecting: Connecting,
}

impl<S, R> Service<R> for MeasuredConnector<S>
where
    S: Service<R> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Send,
    S::Error: Send,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // This connector is always ready. The wrapped connector is cloned to open a connection, and only the clone is polled for readiness.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        let mut inner = locked(&self.inner).clone();
        let connecting = self.connecting.clone();
        Box::pin(async move {
            let connect = async move {
                poll_fn(|context| inner.poll_ready(context)).await?;
                inner.call(request).await
            };
            connecting.open(connect).await
        })
    }
}
