//! HTTP/2 on one connection with prior knowledge (RFC 9113, section 3.3): its limits and its shutdown.

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, HOST, HeaderValue};
use axum::http::{Method, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};

use crate::app::App;
use crate::connection::channel::{AbortError, Channel, Client, Leaving};
use crate::connection::socket::SocketIo;
use crate::connection::{Bounds, MAX_HEAD, MAX_HEADERS};
use crate::work::faulty::may_have_body;

/// Serves a connection whose client has sent the HTTP/2 preface, until the connection ends. After a stop of the server, the connection ends
/// when its requests in flight are answered. A GOAWAY frame reports to the client which of its requests are in flight.
pub(crate) async fn serve(io: SocketIo, address: IpAddr, app: App, bounds: Bounds) {
    let stopping = app.stopping.clone();
    // Every request in service holds a reference to `leaving`, so the number of references shows whether the connection is idle.
    let leaving = Arc::new(Leaving::default());
    let begun = Arc::new(AtomicU64::new(0));
    let client = Client { address, channel: Channel::Stream(leaving.clone()) };
    let service = {
        let begun = begun.clone();
        service_fn(move |request| {
            begun.fetch_add(1, Ordering::Relaxed);
            answer(&app, request, client.clone())
        })
    };
    let idle_holders = Arc::strong_count(&leaving);
    let serving = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(bounds.http2_max_streams)
        .max_header_list_size(MAX_HEAD)
        .serve_connection(TokioIo::new(io), service);
    let mut serving = pin!(serving);
    let mut looks = tokio::time::interval(bounds.head_patience);
    looks.reset();
    let mut begun_before = 0;
    let mut is_leaving = false;
    loop {
        tokio::select! {
            biased;
            // An error of this connection is ignored, because an invalid request or a disconnected client ends only its own connection.
            _ = serving.as_mut() => return,
            () = stopping.stopped(), if !is_leaving => {}
            () = leaving.requested(), if !is_leaving => {}
            _ = looks.tick() => {
                let begun = begun.load(Ordering::Relaxed);
                let was_silent = begun == begun_before && Arc::strong_count(&leaving) == idle_holders;
                begun_before = begun;
                match (was_silent, is_leaving) {
                    (false, _) => continue,
                    (true, false) => {}
                    // The connection was silent for another interval after the GOAWAY. The client has not acknowledged the GOAWAY, so the
                    // connection is dropped.
                    (true, true) => return,
                }
            }
        }
        is_leaving = true;
        serving.as_mut().graceful_shutdown();
    }
}

/// Answers one request. The head of the request is dropped before its answer is awaited, because many requests may wait on one connection.
fn answer(
    app: &App,
    mut request: Request<Incoming>,
    client: Client,
) -> impl Future<Output = Result<Response<Body>, AbortError>> + Send + use<> {
    let method = request.method().clone();
    let answered = (request.headers().len() <= MAX_HEADERS).then(|| {
        name_host(&mut request);
        app.answer(request, client)
    });
    async move {
        let Some(answered) = answered else {
            let mut refused = Response::new(Body::empty());
            *refused.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Ok(refused);
        };
        Ok(without_needless_body(&method, answered.await?))
    }
}

/// Adds the header `Host` if it is missing, because HTTP/2 replaces it by `:authority` (RFC 9113, section 8.3.1).
fn name_host(request: &mut Request<Incoming>) {
    let authority = request.uri().authority().and_then(|name| HeaderValue::from_str(name.as_str()).ok());
    if let Some(authority) = authority.filter(|_| !request.headers().contains_key(HOST)) {
        request.headers_mut().insert(HOST, authority);
    }
}

/// Drops a body from a response that must not have one (RFC 9110, section 6.4.1). Over HTTP/1.1 hyper drops such bodies itself.
fn without_needless_body(method: &Method, mut response: Response<Body>) -> Response<Body> {
    if !may_have_body(method, response.status()) && !response.body().is_end_stream() {
        if let (&Method::HEAD, Some(length)) = (method, response.body().size_hint().exact()) {
            response.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from(length));
        }
        *response.body_mut() = Body::empty();
    }
    response
}
