//! Accepting connections and speaking HTTP/1.1 on them, within bounds.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{Request, Response};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use crate::access::Access;
use crate::faulty::WorkBody;
use crate::shared::Shared;
use crate::socket::{Socket, SocketIo};
use crate::unanswered::Unanswered;
use crate::{admin, work};

/// Real time that a connection may be silent between two requests, or take for a request's head. Longer than
/// clients keep idle connections, so that no request meets a closing one.
const HEAD_PATIENCE: Duration = Duration::from_mins(5);

/// Request heads: bytes and number of headers.
const LARGEST_HEAD: usize = 64 << 10;
const MOST_HEADERS: usize = 100;

/// A pause after an error to accept, such as running out of files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What a listener may do.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Connections open at once; more wait to be accepted.
    pub(crate) connections: usize,
    /// Who may use the admin endpoints.
    pub(crate) access: Access,
    /// Real time that what is under way gets when the server shuts down.
    pub(crate) grace: Duration,
}

type Body = Either<WorkBody, axum::body::Body>;

/// Accepts until `stop` changes, then lets what is under way finish.
pub(crate) async fn serve(
    listener: TcpListener,
    shared: Arc<Shared>,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let router = admin::router(shared.clone());
    let access = Arc::new(limits.access);
    let graceful = GracefulShutdown::new();
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            _ = stop.changed() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let connection = graceful.watch(connection(stream, peer.ip(), &shared, &router, &access));
        tokio::spawn(async move {
            // A client that misbehaves or goes away ends its own connection only.
            drop(connection.await);
            drop(place);
        });
    }
    drop(listener);
    // What is still under way after that is left alone: the process or the runtime ends.
    drop(tokio::time::timeout(limits.grace, graceful.shutdown()).await);
}

fn connection(
    stream: TcpStream,
    peer: IpAddr,
    shared: &Arc<Shared>,
    router: &Router,
    access: &Arc<Access>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + 'static {
    // Small answers go out at once; failing that, they go out a little later.
    drop(stream.set_nodelay(true));
    let (shared, router, access) = (shared.clone(), router.clone(), access.clone());
    let socket = Arc::new(Socket::new(stream));
    let io = TokioIo::new(SocketIo(socket.clone()));
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, router, access) = (shared.clone(), router.clone(), access.clone());
        let socket = socket.clone();
        async move { route(&shared, router, request, peer, &access, &socket).await }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        // Whoever has sent everything may still wait for the answer.
        .half_close(true)
        .serve_connection(io, service)
}

async fn route(
    shared: &Shared,
    router: Router,
    request: Request<Incoming>,
    peer: IpAddr,
    access: &Access,
    socket: &Socket,
) -> Result<Response<Body>, Unanswered> {
    let path = request.uri().path();
    if !(path.starts_with("/_mock/") || path == "/_mock" || path == "/metrics") {
        let response = work::serve(shared, request, peer, socket).await?;
        return Ok(response.map(Either::Left));
    }
    if let Err(words) = access.check(peer, request.version(), request.uri(), request.headers()) {
        return Ok(admin::forbidden(&words).map(Either::Right));
    }
    match router.oneshot(request.map(axum::body::Body::new)).await {
        Ok(response) => Ok(response.map(Either::Right)),
        Err(never) => match never {},
    }
}
