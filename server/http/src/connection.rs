//! One connection: detects the client's HTTP version and serves requests until the connection ends.

pub(crate) mod accept;
pub(crate) mod channel;
mod http2;
pub(crate) mod listen;
pub(crate) mod socket;
pub(crate) mod stopping;

use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::app::App;
use crate::connection::channel::{Channel, Client};
use crate::connection::socket::{Protocol, Socket, SocketIo};

/// Maximum size in bytes, and maximum number of headers, of a request's head (request line and headers).
pub(crate) const MAX_HEAD: u32 = 64 << 10;
pub(crate) const MAX_HEADERS: usize = 100;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum real time between two requests of a connection. It is also the maximum time for receiving a request's head. It is longer
    /// than clients keep idle connections open. So no client sends a request on a connection that the server is closing.
    pub(crate) head_patience: Duration,
    pub(crate) http2_max_streams: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        // 128 streams as in nginx (`http2_max_concurrent_streams`). RFC 9113, section 6.5.2, recommends at least 100.
        Self { head_patience: Duration::from_mins(5), http2_max_streams: 128 }
    }
}

/// Serves a connection until it ends. After a stop of the server, the connection ends when its requests in flight are answered.
pub(crate) async fn serve(stream: TcpStream, address: IpAddr, app: App, bounds: Bounds) {
    // With `TCP_NODELAY`, small answers are sent at once. An error is ignored, because answers are then only sent a little later.
    drop(stream.set_nodelay(true));
    let begun = tokio::select! {
        begun = tokio::time::timeout(bounds.head_patience, Socket::begin(stream)) => begun,
        () = app.stopping.stopped() => return,
    };
    // hyper's futures are boxed, because they are larger than the state that most connections need.
    match begun {
        Ok(Some((Protocol::Http1, io))) => Box::pin(serve_http1(io, address, app, bounds)).await,
        Ok(Some((Protocol::Http2, io))) => Box::pin(http2::serve(io, address, app, bounds)).await,
        Ok(Some((Protocol::Tls, _))) => app.tls_seen.store(true, Ordering::Relaxed),
        Ok(None) | Err(_) => {}
    }
}

async fn serve_http1(io: SocketIo, address: IpAddr, app: App, bounds: Bounds) {
    let stopping = app.stopping.clone();
    let client = Client { address, channel: Channel::Connection(io.socket.clone()) };
    let has_request = AtomicBool::new(false);
    let service = service_fn(|request| {
        has_request.store(true, Ordering::Relaxed);
        app.answer(request, client.clone())
    });
    let serving = http1::Builder::new()
        .timer(HeadTimer::new(Instant::now() + bounds.head_patience))
        .header_read_timeout(bounds.head_patience)
        // `max_headers` is not called, because `MAX_HEADERS` is hyper's default, and setting it would cost every request some 2000
        // instructions.
        .max_buf_size(MAX_HEAD as usize)
        // Half-closed connections are allowed, because a client that has closed its sending side may still wait for the answer.
        .half_close(true)
        // Head and body are copied into one buffer, because responses are short. This saves 450 of 12 700 instructions compared with
        // sending both separately.
        .writev(false)
        .serve_connection(TokioIo::new(io), service);
    let mut serving = pin!(serving);
    tokio::select! {
        biased;
        // An error of this connection is ignored, because an invalid request or a disconnected client ends only its own connection.
        _ = serving.as_mut() => return,
        () = stopping.stopped() => {}
    }
    // If no request has arrived yet, the connection is closed at once. In a graceful shutdown, hyper would wait for the rest of the first
    // request's head.
    if !has_request.load(Ordering::Relaxed) {
        return;
    }
    serving.as_mut().graceful_shutdown();
    drop(serving.await);
}

// The timer by which hyper limits the time for receiving a request's head on an HTTP/1 connection.
//
// hyper creates a sleep before each head and drops it when the head is complete. With the runtime's own sleeps, this takes the lock of the
// runtime's timers twice per request. With this timer, all sleeps of a connection share one sleep of the runtime, which is reset only when
// it fires.

/// Timer of one connection. Each deadline must be later than all earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct HeadTimer(Arc<Mutex<Pin<Box<tokio::time::Sleep>>>>);

#[derive(Debug)]
struct HeadSleep {
    timer: HeadTimer,
    deadline: Instant,
}

impl HeadTimer {
    /// Creates the timer of a connection whose first deadline is not before `first`.
    pub(crate) fn new(first: Instant) -> Self {
        Self(Arc::new(Mutex::new(Box::pin(tokio::time::sleep_until(first.into())))))
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeadSleep { timer: self.clone(), deadline })
    }
}

impl Sleep for HeadSleep {}

impl Future for HeadSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut shared = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            ready!(shared.as_mut().poll(context));
            if shared.deadline().into_std() >= self.deadline {
                return Poll::Ready(());
            }
            shared.as_mut().reset(self.deadline.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sleep_ends_before_its_own_deadline() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            let after = |millis| start + Duration::from_millis(millis);
            let timer = HeadTimer::new(after(1));
            // Dropped before its deadline, as when a head is complete.
            drop(timer.sleep_until(after(2)));
            for millis in [3, 9] {
                timer.sleep_until(after(millis)).await;
                assert!(start.elapsed() >= Duration::from_millis(millis));
            }
        });
    }
}
