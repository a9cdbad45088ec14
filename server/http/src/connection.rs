//! One connection: finds out which HTTP its client speaks, and speaks HTTP/1.1 within bounds.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::bounds::{Bounds, LARGEST_HEAD, MOST_HEADERS};
use crate::carrier::Carrier;
use crate::exchange::{self, Served};
use crate::http2;
use crate::socket::{Protocol, Socket, SocketIo};

/// Serves a connection until it ends; once `stop` changes, no longer than what is under way takes.
pub(crate) async fn converse(
    stream: TcpStream,
    peer: IpAddr,
    served: Arc<Served>,
    bounds: Bounds,
    mut stop: watch::Receiver<bool>,
) {
    // Small answers go out at once; failing that, they go out a little later.
    drop(stream.set_nodelay(true));
    let socket = Arc::new(Socket::new(stream));
    let begun = tokio::select! {
        begun = tokio::time::timeout(bounds.head_patience, socket.clone().begin()) => begun,
        _ = stop.changed() => return,
    };
    match begun {
        Ok(Some((Protocol::Http1, io))) => speak_http1(io, socket, peer, served, bounds, stop).await,
        // Boxed, because it is larger than most connections need.
        Ok(Some((Protocol::Http2, io))) => Box::pin(http2::speak(io, peer, served, bounds, stop)).await,
        Ok(None) | Err(_) => {}
    }
}

async fn speak_http1(
    io: SocketIo,
    socket: Arc<Socket>,
    peer: IpAddr,
    served: Arc<Served>,
    bounds: Bounds,
    mut stop: watch::Receiver<bool>,
) {
    let service = service_fn(move |request| {
        let (served, socket) = (served.clone(), socket.clone());
        async move { exchange::serve(&served, request, peer, Carrier::Connection(&socket)).await }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_patience)
        .max_buf_size(LARGEST_HEAD as usize)
        .max_headers(MOST_HEADERS)
        // Whoever has sent everything may still wait for the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(io), service);
    let mut serving = pin!(serving);
    tokio::select! {
        biased;
        // A client that misbehaves or goes away ends its own connection only.
        _ = serving.as_mut() => return,
        _ = stop.changed() => {}
    }
    serving.as_mut().graceful_shutdown();
    drop(serving.await);
}
