//! Bounds how many connections are being opened at once, and measures how long that takes.
//!
//! Without a bound a cold pool answers a burst with as many connects at once, until files run out.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use loadgen_core::Latencies;
use tokio::sync::Semaphore;
use tower::{Layer, Service};

/// Connections being opened at once; the rest waits its turn, which is measured.
const CONNECTS_AT_ONCE: usize = 128;

/// Wraps a connector with the bound and the measurement.
#[derive(Clone, Debug)]
pub(crate) struct Connecting {
    places: Arc<Semaphore>,
    opened: Arc<Mutex<Latencies>>,
}

impl Connecting {
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(CONNECTS_AT_ONCE)), opened: Arc::default() }
    }

    /// How long it took to get each connection that was opened, in real time.
    pub(crate) fn opened(&self) -> Latencies {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections were opened.
    pub(crate) fn count(&self) -> u64 {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).count()
    }
}

impl<S> Layer<S> for Connecting {
    type Service = MeasuredConnector<S>;

    fn layer(&self, inner: S) -> Self::Service {
        MeasuredConnector { inner: Arc::new(Mutex::new(inner)), connecting: self.clone() }
    }
}

/// A connector within the bound.
///
/// The pool clones its connector for every attempt, needed or not, and a connector is expensive to clone: so it is
/// shared, and cloned only when a connection is really opened.
#[derive(Debug)]
pub(crate) struct MeasuredConnector<S> {
    inner: Arc<Mutex<S>>,
    connecting: Connecting,
}

impl<S> Clone for MeasuredConnector<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), connecting: self.connecting.clone() }
    }
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
        // The clone that makes the connection is asked whether it is ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Connecting { places, opened } = self.connecting.clone();
        let asked = Instant::now();
        Box::pin(async move {
            let _place = places.acquire().await.expect("the semaphore is never closed");
            poll_fn(|context| inner.poll_ready(context)).await?;
            let connection = inner.call(request).await?;
            opened.lock().unwrap_or_else(PoisonError::into_inner).record(asked.elapsed());
            Ok(connection)
        })
    }
}
