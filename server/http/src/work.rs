//! Handling of work: requests with any method and any path that is not one of the admin endpoints.

pub(crate) mod cached_selection;
pub(crate) mod calls;
pub(crate) mod faulty;
pub(crate) mod identity;
pub(crate) mod request_body;
pub(crate) mod response;

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Body as _;
use mockserver_core::{Fault, Rendered, RequestFields, ScriptedAnswer};
use tower::Service;
use vocabulary::WallTime;

use crate::connection::channel::{Abort, Client};
use crate::shared::{Admitted, Shared};
use crate::work::calls::CallKey;
use crate::work::identity::Identity;

const NO_PROXY: &str = "mockserver is not a proxy; send requests to it directly\n";

type Plain = axum::http::Response<Full<Bytes>>;

/// Returns the service that answers work. The service is not an axum handler, because a handler keeps the whole request in memory while it
/// waits.
pub(crate) fn service(
    shared: Arc<Shared>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
    tower::service_fn(move |request| serve(shared.clone(), request))
}

/// Serves one request. The head of the request is dropped as soon as it has been parsed, because many requests may wait at once.
fn serve(
    shared: Arc<Shared>,
    mut request: Request,
) -> impl Future<Output = Result<Response, Infallible>> + Send + 'static {
    let client =
        request.extensions_mut().remove::<Client>().expect("connections insert it into every request");
    let preflight =
        if shared.cors { response::to_preflight(request.method(), request.headers()) } else { None };
    // The answer is boxed, because only the few preflight requests need its space.
    let preflight = preflight.map(Box::new);
    let mut identity = Identity::from(request.headers());
    if identity.op.is_none() && identity.attempt.is_none() && shared.counts_calls() {
        identity.call = Some(CallKey::new(request.method(), request.uri()));
    }
    let method = request.method().clone();
    let is_bare = request.body().is_end_stream() && !shared.wanted.is_any();
    let unread = (!is_bare).then(|| Box::new(request.into_parts()));
    async move {
        if let Some(answer) = preflight {
            shared.preflights.fetch_add(1, Ordering::Relaxed);
            return Ok(*answer);
        }
        if method == Method::CONNECT {
            return Ok(undecided(&shared, StatusCode::NOT_IMPLEMENTED, NO_PROXY, &identity).map(Body::new));
        }
        let details = match unread {
            None => Ok(None),
            Some(unread) => Box::pin(details(&shared, unread, &client)).await,
        };
        Ok(match details {
            Ok(details) => answer(&shared, &method, identity, details, &client).await,
            Err((code, text)) => undecided(&shared, code, text, &identity).map(Body::new),
        })
    }
}

async fn details(
    shared: &Shared,
    unread: Box<(Parts, Body)>,
    client: &Client,
) -> Result<Option<Arc<RequestFields>>, (StatusCode, &'static str)> {
    let (parts, body) = *unread;
    let wants = shared.wanted.get();
    let mut kept = Vec::new();
    if !body.is_end_stream() {
        kept = request_body::read(body, cached_selection::body(wants.as_deref())).await?;
    }
    // The parts of the request are extracted outside the lock, because parsing a long body takes time.
    Ok(wants.map(|wants| Arc::new(cached_selection::details(&wants, &parts, client.address, &kept))))
}

async fn answer(
    shared: &Shared,
    method: &Method,
    identity: Identity,
    details: Option<Arc<RequestFields>>,
    client: &Client,
) -> Response {
    let decided = tokio::select! {
        // The decision is polled before the check for a disconnect, because the decision is often available at once.
        biased;
        decided = shared.serve(identity, details) => decided,
        () = client.channel.gone() => return Abort::ClientGone.into_response(),
    };
    let Some(decided) = decided else {
        let text = "the server is shutting down\n";
        return undecided(shared, StatusCode::SERVICE_UNAVAILABLE, text, &identity).map(Body::new);
    };
    let response = respond(shared, &identity, &decided);
    match decided.answer.fault() {
        None => response.map(Body::new),
        Some(fault) => {
            let until_over = match fault {
                Fault::SlowBody(later) => shared.clock.until(decided.answer.at + later),
                _ => Duration::ZERO,
            };
            // The future is boxed, because only the few responses with faults need its space.
            Box::pin(faulty::apply(fault, response, method, &client.channel, until_over)).await
        }
    }
}

/// Answers a request on which the state machine made no decision. In a run of loadgen, the answer is marked as a failure of the server
/// itself. The mark shows that the answer is not from a proxy.
fn undecided(shared: &Shared, code: StatusCode, text: &'static str, identity: &Identity) -> Plain {
    let mut response = response::with_text(identity, code, text);
    if identity.run.is_some() {
        let [_, _, failed] = wire::VERDICTS;
        response.headers_mut().insert(response::MOCK, response::MOCK_VERSION);
        response.headers_mut().insert(response::VERDICT, HeaderValue::from_static(failed));
    }
    if shared.cors {
        response::allow_any_origin(response.headers_mut());
    }
    response
}

fn respond(shared: &Shared, identity: &Identity, decided: &Admitted) -> Plain {
    let Admitted { answer, .. } = decided;
    let teller = response::teller(&shared.clock, identity.run.is_some());
    let mut response = match (answer.fault(), decided.reply()) {
        (Some(Fault::Status(code)), _) => {
            response::with_text(identity, response::status(code), decided.answer.text())
        }
        (_, Some(reply)) => scripted(identity, &reply.answer, teller.wall(answer.at)),
        (_, None) => response::of_verdict(identity, decided),
    };
    if let (Some(answers), Some(facts)) = (&decided.answers, answer.facts()) {
        apply_templates(&mut response, answers.render(&answer.response_context(facts), &teller));
    }
    response::insert_headers(response.headers_mut(), &shared.clock, identity, decided);
    if shared.cors {
        response::allow_any_origin(response.headers_mut());
    }
    response
}

fn apply_templates(response: &mut Plain, rendered: Rendered<'_>) {
    if let Some(code) = rendered.status {
        *response.status_mut() = response::status(code);
    }
    response.headers_mut().reserve(rendered.headers.len());
    for (name, value) in &rendered.headers {
        insert(response, name, value);
    }
    if let Some(body) = rendered.body {
        *response.body_mut() = Full::new(Bytes::from(body.into_owned()));
    }
}

fn scripted(identity: &Identity, reply: &ScriptedAnswer, now: WallTime) -> Plain {
    let body = Bytes::copy_from_slice(reply.body.as_bytes());
    let mut response = response::with_body(identity, response::status(reply.status), body);
    for (name, value) in reply.headers(now) {
        insert(&mut response, name, &value);
    }
    response
}

fn insert(response: &mut Plain, name: &str, value: &str) {
    // The conversions do not fail, because the core accepts only valid names and values of headers.
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests;
