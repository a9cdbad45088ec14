//! One connection: finds out which HTTP its client speaks, and serves it until it ends.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::bounds::{Bounds, LARGEST_HEAD};
use crate::carrier::Carrier;
use crate::exchange::{self, Served};
use crate::http2;
use crate::plain::{self, HandedOver};
use crate::socket::{Protocol, Socket};

/// Serves a connection until it ends; once the server stops, no longer than what is under way takes.
pub(crate) async fn converse(stream: TcpStream, peer: IpAddr, served: Arc<Served>, bounds: Bounds) {
    // Small answers go out at once; failing that, they go out a little later.
    drop(stream.set_nodelay(true));
    let begun = tokio::select! {
        begun = tokio::time::timeout(bounds.head_patience, Socket::begin(stream)) => begun,
        () = served.stopping.told() => return,
    };
    // Both machineries are boxed, because they are larger than most connections need.
    match begun {
        Ok(Some((Protocol::Http1, io))) => {
            if let Some(rest) = plain::serve(io, &served.shared, bounds, &served.stopping).await {
                Box::pin(speak_http1(rest, peer, served, bounds)).await;
            }
        }
        Ok(Some((Protocol::Http2, io))) => Box::pin(http2::speak(io, peer, served, bounds)).await,
        Ok(None) | Err(_) => {}
    }
}

async fn speak_http1(rest: HandedOver, peer: IpAddr, served: Arc<Served>, bounds: Bounds) {
    let HandedOver { io, decided } = rest;
    let socket = io.socket();
    let decided = Mutex::new(decided);
    let stopping = served.clone();
    let service = service_fn(move |request| {
        let (served, socket) = (served.clone(), socket.clone());
        // The first request is the one that was decided before.
        let decided = decided.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move { exchange::serve(&served, request, peer, Carrier::Connection(&socket), decided).await }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_patience)
        .max_buf_size(LARGEST_HEAD as usize)
        // `MOST_HEADERS` is hyper's default: to name it here, too, would cost every request some 2000 instructions.
        // Whoever has sent everything may still wait for the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(io), service);
    let mut serving = pin!(serving);
    tokio::select! {
        biased;
        // A client that misbehaves or goes away ends its own connection only.
        _ = serving.as_mut() => return,
        () = stopping.stopping.told() => {}
    }
    serving.as_mut().graceful_shutdown();
    drop(serving.await);
}
