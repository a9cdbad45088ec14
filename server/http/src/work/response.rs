//! Responses without templates, scripts or faults, and the headers that the server itself sets.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    CACHE_CONTROL, ETAG, HeaderMap, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER,
};
use axum::http::{Method, Response, StatusCode};
use bytes::Bytes;
use http_body_util::Full;
use mockserver_core::{Answer, HeaderWriter, ServerDecision, Step};
use vocabulary::whole_nanos;

use crate::clock::Clock;
use crate::shared::Admitted;
use crate::work::identity::Identity;

const AT: HeaderName = HeaderName::from_static(wire::AT);
const BUSY: HeaderName = HeaderName::from_static(wire::BUSY);
const CAP: HeaderName = HeaderName::from_static(wire::CAP);
const DEFERRED: HeaderName = HeaderName::from_static(wire::DEFERRED);
const LIMITS: HeaderName = HeaderName::from_static(wire::LIMITS);
pub(crate) const MOCK: HeaderName = HeaderName::from_static(wire::MOCK);
const TOOK: HeaderName = HeaderName::from_static(wire::TOOK);
pub(crate) const VERDICT: HeaderName = HeaderName::from_static(wire::VERDICT);
const WAIT: HeaderName = HeaderName::from_static(wire::WAIT);

pub(crate) const MOCK_VERSION: HeaderValue = HeaderValue::from_static(wire::MOCK_VERSION);

/// Value of `Cache-Control` that forbids caching, because a cached response would be mistaken for one of this server.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Value of CORS headers that allows every origin and exposes every header (Fetch standard, section 3.3).
const ANY: HeaderValue = HeaderValue::from_static("*");

/// Capacity of the header map of a response to loadgen. It is large enough that the map never grows.
const RUN_HEADERS: usize = 12;

pub(crate) fn with_body(identity: &Identity, status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if identity.run.is_some() {
        headers.reserve(RUN_HEADERS);
    }
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

pub(crate) fn with_text(
    identity: &Identity,
    status: StatusCode,
    text: &'static str,
) -> Response<Full<Bytes>> {
    with_body(identity, status, Bytes::from_static(text.as_bytes()))
}

pub(crate) fn of_verdict(identity: &Identity, decided: &Admitted) -> Response<Full<Bytes>> {
    let code = match decided.answer.verdict {
        // Almost every fault breaks the response of a failed request later. Only if the fault is a status, the failed request gets a
        // complete response.
        ServerDecision::Accepted | ServerDecision::Failed => StatusCode::OK,
        ServerDecision::Conflict => StatusCode::PRECONDITION_FAILED,
        ServerDecision::Rejected | ServerDecision::Deferred => status(decided.reject_status),
    };
    with_text(identity, code, decided.answer.text())
}

/// Inserts the headers that the server itself sets. Headers that only loadgen reads are sent only to loadgen, so that other clients get the
/// same response as from a real server.
pub(crate) fn insert_headers(
    headers: &mut HeaderMap,
    clock: &Clock,
    identity: &Identity,
    decided: &Admitted,
) {
    let answer = &decided.answer;
    let is_ours = identity.run.is_some();
    if decided.is_deferred() {
        // The attempt was not started. So its answer does not contain the headers that report the state of the server.
        headers.insert(DEFERRED, HeaderValue::from_static("1"));
        headers.insert(MOCK, MOCK_VERSION);
        return;
    }
    if let Some(after) = answer.advice.filter(|_| decided.answers.is_none()) {
        if decided.advertises_wait {
            headers.insert(RETRY_AFTER, teller(clock, is_ours).whole_seconds(after).into());
        }
        if is_ours {
            headers.insert(WAIT, whole_nanos(after).into());
        }
    }
    if identity.step != Step::Work {
        insert_text(headers, ETAG, &format!("\"{}\"", answer.version));
    }
    if !is_ours {
        return;
    }
    headers.insert(MOCK, MOCK_VERSION);
    headers.insert(BUSY, answer.busy.into());
    if let Some(cap) = answer.cap {
        headers.insert(CAP, cap.into());
    }
    if answer.facts().is_some() {
        let limits = answer.limits();
        if !limits.is_empty() {
            insert_text(headers, LIMITS, &limits.to_string());
        }
    }
    headers.insert(TOOK, whole_nanos(decided.took).into());
    // The status of a scripted response determines how the request counts. So the response gets a verdict header only if a fault spoiled
    // it.
    if answer.reply.is_none() || answer.is_spoiled() {
        headers.insert(VERDICT, HeaderValue::from_static(verdict(answer)));
    }
    headers.insert(AT, answer.at.as_nanos().into());
}

/// Lets web pages of any origin read the response.
pub(crate) fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, ANY);
}

/// Returns the answer to a preflight request, by which a browser checks whether a web page may send its actual request. Returns `None` for
/// any other request. The answer repeats the requested method and headers, because `*` would exclude the header `authorization`.
pub(crate) fn to_preflight(method: &Method, requested: &HeaderMap) -> Option<Response<Body>> {
    let is_preflight = *method == Method::OPTIONS && requested.contains_key(ORIGIN);
    let actual = requested.get(ACCESS_CONTROL_REQUEST_METHOD).filter(|_| is_preflight)?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, actual.clone());
    for names in requested.get_all(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.append(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    Some(response)
}

fn insert_text(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // The conversion does not fail, because the core creates only valid header values.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Returns the writer of response headers that contain times. In responses to a run of loadgen, it uses experiment time, because loadgen
/// has the same time scale. In all other responses, it uses real time.
pub(crate) fn teller(clock: &Clock, is_ours: bool) -> HeaderWriter {
    if is_ours {
        HeaderWriter::experiment(clock.anchor)
    } else {
        HeaderWriter::real(clock.anchor, clock.scale)
    }
}

pub(crate) fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}

/// Returns the verdict that is reported for the client's statistics. An answer spoiled by a fault is a failure, even if the work was done.
fn verdict(answer: &Answer) -> &'static str {
    let [accepted, rejected, failed] = wire::VERDICTS;
    match answer.verdict {
        _ if answer.is_spoiled() => failed,
        ServerDecision::Failed => failed,
        ServerDecision::Accepted => accepted,
        ServerDecision::Rejected | ServerDecision::Conflict | ServerDecision::Deferred => rejected,
    }
}
