//! Work: any path and method that is not the server's own.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body as _, Incoming};
use mockserver_core::{Fault, Rendered, Reply, ScriptedAnswer};
use vocabulary::{WallTime, wire};

use crate::carrier::Carrier;
use crate::faulty::{self, WorkBody};
use crate::identity::{Identity, Marks};
use crate::plain::Handed;
use crate::request_body;
use crate::shared::{Decided, Shared};
use crate::unanswered::Unanswered;
use crate::wanted;
use crate::words::{self, Value};

const MOCK: HeaderName = HeaderName::from_static(wire::MOCK);
const VERDICT: HeaderName = HeaderName::from_static(wire::VERDICT);

/// Serves one request for work, about which something may have been decided before.
pub(crate) async fn serve(
    shared: &Shared,
    request: Request<Incoming>,
    peer: IpAddr,
    carrier: Carrier<'_>,
    handed: Option<Handed>,
) -> Result<Response<WorkBody>, Unanswered> {
    let (parts, body) = request.into_parts();
    let (identity, decided) = if let Some(Handed { identity, decided }) = handed {
        (identity, decided)
    } else {
        let identity = Marks::from(&parts.headers).identity();
        match hand_in(shared, &parts, body, identity, peer, carrier).await {
            Ok(decided) => (identity, decided),
            Err(NotHandedIn::Refused(code, words)) => {
                return Ok(undecided(code, words, &identity).map(Either::Left));
            }
            Err(NotHandedIn::Gone) => return Err(Unanswered::Gone),
        }
    };
    answer(shared, &parts.method, &identity, decided, carrier).await
}

/// Serves a request of which nothing matters but what it says of itself: whoever waits keeps little in memory.
pub(crate) async fn serve_bare(
    shared: &Shared,
    method: &Method,
    identity: &Identity,
    carrier: Carrier<'_>,
) -> Result<Response<WorkBody>, Unanswered> {
    let decided = tokio::select! {
        biased;
        decided = shared.serve(*identity, None) => decided,
        () = carrier.gone() => return Err(Unanswered::Gone),
    };
    answer(shared, method, identity, decided, carrier).await
}

/// Puts into words what was decided about a request, and does it as a fault wants it.
async fn answer(
    shared: &Shared,
    method: &Method,
    identity: &Identity,
    decided: Option<Decided>,
    carrier: Carrier<'_>,
) -> Result<Response<WorkBody>, Unanswered> {
    let Some(decided) = decided else {
        let words = "the server is shutting down\n";
        return Ok(undecided(StatusCode::SERVICE_UNAVAILABLE, words, identity).map(Either::Left));
    };
    let Some(response) = respond(shared, identity, &decided) else {
        return Err(match carrier {
            Carrier::Connection(_) => Unanswered::Scripted,
            Carrier::Stream(_) => carrier.close(),
        });
    };
    match decided.answer.fault() {
        None => Ok(response.map(Either::Left)),
        Some(fault) => {
            let until_over = match fault {
                Fault::SlowBody(later) => shared.clock.until(decided.answer.at + later),
                _ => Duration::ZERO,
            };
            // Boxed, because few answers need its room.
            Box::pin(faulty::give(fault, response, method, carrier, until_over)).await
        }
    }
}

/// Why nothing is decided about a request.
enum NotHandedIn {
    Refused(StatusCode, &'static str),
    Gone,
}

/// Reads what belongs to a request, and waits for what becomes of it.
async fn hand_in(
    shared: &Shared,
    parts: &Parts,
    body: Incoming,
    identity: Identity,
    peer: IpAddr,
    carrier: Carrier<'_>,
) -> Result<Option<Decided>, NotHandedIn> {
    let wants = shared.wanted.get();
    let mut kept = Vec::new();
    if !body.is_end_stream() {
        kept = request_body::read(body, wanted::body(wants.as_deref()))
            .await
            .map_err(|(code, words)| NotHandedIn::Refused(code, words))?;
    }
    // Here and not under the lock: a body may be long.
    let details = wants.map(|wants| Arc::new(wanted::details(&wants, parts, peer, &kept)));
    drop(kept);
    tokio::select! {
        // Many answers are there at once.
        biased;
        decided = shared.serve(identity, details) => Ok(decided),
        () = carrier.gone() => Err(NotHandedIn::Gone),
    }
}

/// An answer to a request about which nothing was decided, or nobody learns what. To a run it is a failure, and no answer of somebody
/// between.
fn undecided(code: StatusCode, words: &'static str, identity: &Identity) -> Response<Full<Bytes>> {
    let mut response = text(code, words);
    if identity.run.is_some() {
        let [_, _, failed] = wire::VERDICTS;
        response.headers_mut().insert(MOCK, HeaderValue::from_static(wire::MOCK_VERSION));
        response.headers_mut().insert(VERDICT, HeaderValue::from_static(failed));
    }
    response
}

/// The answer; nothing when a script wants none.
fn respond(shared: &Shared, identity: &Identity, decided: &Decided) -> Option<Response<Full<Bytes>>> {
    let Decided { answer, .. } = decided;
    let teller = words::teller(&shared.clock, identity.run.is_some());
    let mut response = match (answer.fault(), decided.reply()) {
        (Some(Fault::Status(code)), _) => text(words::status(code), "failed\n"),
        (_, Some(Reply::Close)) => return None,
        (_, Some(Reply::Answer(scripted))) => self::scripted(scripted, teller.wall(answer.at)),
        (_, None) => {
            let (status, body) = words::plain(answer.verdict, decided.reject_status);
            text(status, body)
        }
    };
    if let (Some(answers), Some(facts), true) = (&decided.answers, answer.facts(), decided.has_templates()) {
        put_into_words(&mut response, answers.render(&answer.told(facts), &teller));
    }
    words::headers(&shared.clock, identity, decided, |name, value| {
        let value = match value {
            Value::Text(text) => HeaderValue::from_str(text).ok(),
            Value::Number(number) => Some(HeaderValue::from(number)),
        };
        // The core lets nothing be told that is no header.
        if let Some(value) = value {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    });
    Some(response)
}

/// What templates say goes before the server's own words.
fn put_into_words(response: &mut Response<Full<Bytes>>, rendered: Rendered<'_>) {
    if let Some(code) = rendered.status {
        *response.status_mut() = words::status(code);
    }
    response.headers_mut().reserve(rendered.headers.len());
    for (name, value) in &rendered.headers {
        // The core lets nothing into an answer that is no header.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            response.headers_mut().insert(name, value);
        }
    }
    if let Some(body) = rendered.body {
        *response.body_mut() = Full::new(Bytes::from(body.into_owned()));
    }
}

/// What a script says, at this moment.
fn scripted(answer: &ScriptedAnswer, now: WallTime) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = answered(status, Bytes::copy_from_slice(answer.body.as_bytes()));
    for (name, value) in answer.headers(now) {
        // The core lets nothing into a script that is no header.
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value))
        {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn text(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    answered(status, Bytes::from_static(words.as_bytes()))
}

fn answered(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let (name, value) = words::CACHE_CONTROL;
    response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    response
}
