//! HTTP/2 on one connection, spoken by prior knowledge (RFC 9113, section 3.3): its bounds, and how it ends.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::header::{CONTENT_LENGTH, HOST, HeaderValue};
use axum::http::{Method, Request, Response, StatusCode};
use http_body_util::Either;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};

use crate::bounds::{Bounds, LARGEST_HEAD, MOST_HEADERS};
use crate::carrier::{Carrier, Leaving};
use crate::exchange::{self, Body, Served};
use crate::faulty::may_have_body;
use crate::identity::{Identity, Marks};
use crate::shared::Shared;
use crate::socket::SocketIo;
use crate::unanswered::Unanswered;
use crate::work;

/// One connection, shared by its requests.
struct Connection {
    served: Arc<Served>,
    peer: IpAddr,
    leaving: Leaving,
    /// Requests so far.
    begun: AtomicU64,
}

/// Serves a connection whose client has begun with the preface, until it ends; once the server stops, no longer than what is under
/// way takes: the client learns by GOAWAY which requests those are.
pub(crate) async fn speak(io: SocketIo, peer: IpAddr, served: Arc<Served>, bounds: Bounds) {
    let leaving = Leaving::default();
    let connection = Arc::new(Connection { served, peer, leaving, begun: AtomicU64::new(0) });
    let service = {
        let connection = connection.clone();
        service_fn(move |request| {
            connection.begun.fetch_add(1, Ordering::Relaxed);
            answer(connection.clone(), Received::of(&connection.served.shared, request))
        })
    };
    let idle_holders = Arc::strong_count(&connection);
    let serving = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(bounds.http2_max_streams)
        .max_header_list_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(io), service);
    let mut serving = pin!(serving);
    let mut looks = tokio::time::interval(bounds.head_patience);
    looks.reset();
    let mut begun_before = 0;
    let mut is_leaving = false;
    loop {
        tokio::select! {
            biased;
            // A client that misbehaves or goes away ends its own connection only.
            _ = serving.as_mut() => return,
            () = connection.served.stopping.told(), if !is_leaving => {}
            () = connection.leaving.asked(), if !is_leaving => {}
            _ = looks.tick() => {
                let begun = connection.begun.load(Ordering::Relaxed);
                let was_silent = begun == begun_before && Arc::strong_count(&connection) == idle_holders;
                begun_before = begun;
                match (was_silent, is_leaving) {
                    (false, _) => continue,
                    (true, false) => {}
                    // It does not even say that it has heard.
                    (true, true) => return,
                }
            }
        }
        is_leaving = true;
        serving.as_mut().graceful_shutdown();
    }
}

/// What a request comes to before it is waited for.
enum Received {
    /// Too many headers.
    TooMany,
    /// Work of which nothing else matters. Many may wait on one connection: what they say is forgotten when it is read.
    Work(Method, Identity),
    /// Everything else.
    Other(Box<Request<Incoming>>),
}

impl Received {
    fn of(shared: &Shared, mut request: Request<Incoming>) -> Self {
        if request.headers().len() > MOST_HEADERS {
            return Self::TooMany;
        }
        let is_bare = request.body().is_end_stream() && !shared.wanted.is_any();
        if is_bare && exchange::is_work(request.uri().path()) {
            let identity = Marks::from(request.headers()).identity();
            return Self::Work(request.method().clone(), identity);
        }
        // RFC 9113, section 8.3.1: who would be named in `Host`.
        let authority = request.uri().authority().and_then(|name| HeaderValue::from_str(name.as_str()).ok());
        if let Some(authority) = authority.filter(|_| !request.headers().contains_key(HOST)) {
            request.headers_mut().insert(HOST, authority);
        }
        Self::Other(Box::new(request))
    }
}

async fn answer(connection: Arc<Connection>, received: Received) -> Result<Response<Body>, Unanswered> {
    let Connection { served, peer, leaving, .. } = &*connection;
    let carrier = Carrier::Stream(leaving);
    match received {
        Received::TooMany => {
            let mut refused = Response::new(Either::Right(axum::body::Body::empty()));
            *refused.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            Ok(refused)
        }
        Received::Work(method, identity) => {
            let response = work::serve_bare(&served.shared, &method, &identity, carrier).await?;
            Ok(without_needless_body(&method, response.map(Either::Left)))
        }
        Received::Other(request) => {
            let method = request.method().clone();
            let response = Box::pin(exchange::serve(served, *request, *peer, carrier, None)).await?;
            Ok(without_needless_body(&method, response))
        }
    }
}

/// The machinery of HTTP/1.1 leaves out by itself what may not be there (RFC 9110, section 6.4.1).
fn without_needless_body(method: &Method, mut response: Response<Body>) -> Response<Body> {
    if !may_have_body(method, response.status()) && !response.body().is_end_stream() {
        if let (&Method::HEAD, Some(length)) = (method, response.body().size_hint().exact()) {
            response.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from(length));
        }
        *response.body_mut() = Either::Right(axum::body::Body::empty());
    }
    response
}
