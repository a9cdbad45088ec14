//! Work: any path and method that is not the server's own.

use std::time::Duration;

use axum::http::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use axum::http::{Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body as _, Incoming};
use mockserver_core::Verdict;
use vocabulary::wire;

use crate::shared::{Decided, Identity, Shared};

/// The most of a request's body that is read.
const LONGEST_BODY: usize = 1 << 20;

/// Real time that a body may take.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Serves one request for work.
pub(crate) async fn serve(shared: &Shared, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    if !body.is_end_stream() {
        match tokio::time::timeout(BODY_PATIENCE, discard(body)).await {
            Ok(true) => {}
            Ok(false) => return text(StatusCode::PAYLOAD_TOO_LARGE, "bodies may have at most 1 MiB\n"),
            Err(_) => return text(StatusCode::REQUEST_TIMEOUT, "the body took longer than 30 s\n"),
        }
    }
    match shared.serve(identity(&parts.headers)).await {
        Some(decided) => respond(shared, &decided),
        None => text(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down\n"),
    }
}

/// Reads a body without keeping it; false when it is too long or breaks off.
async fn discard(body: Incoming) -> bool {
    let mut body = Limited::new(body, LONGEST_BODY);
    while let Some(frame) = body.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}

/// What a request says about itself; what is missing or garbage is left to the server.
fn identity(headers: &HeaderMap) -> Identity {
    let value = |name: &'static str| headers.get(name)?.to_str().ok();
    Identity {
        run: value(wire::RUN).and_then(|text| u64::from_str_radix(text, 16).ok()),
        seed: value(wire::SEED).and_then(|text| text.parse().ok()),
        op: value(wire::OP).and_then(|text| text.parse().ok()),
        attempt: value(wire::ATTEMPT).and_then(|text| text.parse().ok()),
    }
}

fn respond(shared: &Shared, decided: &Decided) -> Response<Full<Bytes>> {
    let mut response = match decided.answer.verdict {
        Verdict::Accepted => text(StatusCode::OK, "served\n"),
        Verdict::Rejected | Verdict::Conflict => rejection(shared, decided),
    };
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(wire::BUSY), HeaderValue::from(decided.answer.busy));
    headers.insert(HeaderName::from_static(wire::CAP), HeaderValue::from(decided.answer.cap));
    response
}

fn rejection(shared: &Shared, decided: &Decided) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(decided.reject_status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let mut response = text(status, "busy\n");
    if let Some(after) = decided.retry_after {
        // Headers speak of real time.
        let real = shared.clock.scale.to_real(after);
        let millis = u64::try_from(real.as_millis()).unwrap_or(u64::MAX);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(millis.div_ceil(1000)));
        response.headers_mut().insert(RETRY_AFTER_MS, HeaderValue::from(millis));
    }
    response
}

fn text(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(words.as_bytes())));
    *response.status_mut() = status;
    let version = HeaderValue::from_static(wire::MOCK_VERSION);
    response.headers_mut().insert(HeaderName::from_static(wire::MOCK), version);
    response
}
