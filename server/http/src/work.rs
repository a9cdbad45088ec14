//! Work: any path and method that is not the server's own.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RETRY_AFTER};
use axum::http::{Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use mockserver_core::{Answer, Fault, Rendered, Reply, ScriptedAnswer, Step, Teller, Verdict};
use vocabulary::{WallTime, wire};

use crate::carrier::Carrier;
use crate::clock::Clock;
use crate::faulty::{self, WorkBody};
use crate::shared::{Decided, Identity, Shared};
use crate::unanswered::Unanswered;
use crate::wanted;

/// The most of a request's body that is read.
const LONGEST_BODY: usize = 1 << 20;

/// Real time that a body may take.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// No object ever has this version.
const NO_VERSION: u64 = u64::MAX;

const MOCK: HeaderName = HeaderName::from_static(wire::MOCK);
const VERDICT: HeaderName = HeaderName::from_static(wire::VERDICT);
const AT: HeaderName = HeaderName::from_static(wire::AT);
const WAIT: HeaderName = HeaderName::from_static(wire::WAIT);

/// Serves one request for work.
pub(crate) async fn serve(
    shared: &Shared,
    request: Request<Incoming>,
    peer: IpAddr,
    carrier: Carrier<'_>,
) -> Result<Response<WorkBody>, Unanswered> {
    let (parts, body) = request.into_parts();
    let wants = shared.wanted.get();
    let identity = identity(&parts.headers);
    let mut kept = Vec::new();
    if !body.is_end_stream() {
        let reading = read(body, wanted::body(wants.as_deref()));
        match tokio::time::timeout(BODY_PATIENCE, reading).await {
            Ok(Ok(body)) => kept = body,
            Ok(Err((code, words))) => return Ok(undecided(code, words, &identity).map(Either::Left)),
            Err(_) => {
                let words = "the body took longer than 30 s\n";
                return Ok(undecided(StatusCode::REQUEST_TIMEOUT, words, &identity).map(Either::Left));
            }
        }
    }
    // Here and not under the lock: a body may be long.
    let details = wants.map(|wants| Arc::new(wanted::details(&wants, &parts, peer, &kept)));
    drop(kept);
    let decided = tokio::select! {
        // Many answers are there at once.
        biased;
        decided = shared.serve(identity, details) => decided,
        () = carrier.gone() => return Err(Unanswered::Gone),
    };
    let Some(decided) = decided else {
        let words = "the server is shutting down\n";
        return Ok(undecided(StatusCode::SERVICE_UNAVAILABLE, words, &identity).map(Either::Left));
    };
    let Some(response) = respond(shared, &identity, &decided) else {
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
            faulty::give(fault, response, &parts.method, carrier, until_over).await
        }
    }
}

/// Reads a body, and keeps it where somebody looks at it. Otherwise the answer to one that is too long or breaks off.
async fn read(body: Incoming, is_kept: bool) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let mut body = Limited::new(body, LONGEST_BODY);
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                (StatusCode::PAYLOAD_TOO_LARGE, "bodies may have at most 1 MiB\n")
            } else {
                (StatusCode::BAD_REQUEST, "the body breaks off, or its chunks cannot be read\n")
            }
        })?;
        if let Some(data) = frame.data_ref().filter(|_| is_kept) {
            kept.extend_from_slice(data);
        }
    }
    Ok(kept)
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

/// What a request says about itself; what is missing or garbage is left to the server.
fn identity(headers: &HeaderMap) -> Identity {
    let value = |name: &'static str| headers.get(name)?.to_str().ok();
    let run = value(wire::RUN).and_then(|text| u64::from_str_radix(text, 16).ok());
    // Only a run understands that nothing was started.
    let least_free = run.and_then(|_| value(wire::LEAST_FREE)?.parse().ok());
    Identity {
        run,
        seed: value(wire::SEED).and_then(|text| text.parse().ok()),
        op: value(wire::OP).and_then(|text| text.parse().ok()),
        // They are counted from 1.
        attempt: value(wire::ATTEMPT).and_then(|text| text.parse().ok()).filter(|attempt| *attempt > 0),
        step: step(headers),
        least_free: least_free.unwrap_or(0),
    }
}

/// Which half of a conditional write this is, if any.
fn step(headers: &HeaderMap) -> Step {
    let mut conditions = headers.get_all(IF_MATCH).iter();
    match (conditions.next(), conditions.next()) {
        // RFC 9110, section 13.1.1: any state of the object will do.
        (Some(condition), None) if condition == "*" => Step::Work,
        (Some(condition), None) => Step::Write { if_match: version(condition).unwrap_or(NO_VERSION) },
        (Some(_), Some(_)) => Step::Write { if_match: NO_VERSION },
        (None, _) if headers.get(wire::STEP).is_some_and(|step| step == wire::STEP_READ) => Step::Read,
        (None, _) => Step::Work,
    }
}

/// The version that a strong entity tag of this server names. Weak ones never match, nor does what it never gave out.
fn version(tag: &HeaderValue) -> Option<u64> {
    let digits = tag.to_str().ok()?.strip_prefix('"')?.strip_suffix('"')?;
    // Parsing takes `+1` and `01`, too: those are other tags.
    digits.parse().ok().filter(|version: &u64| version.to_string() == digits)
}

/// The answer; nothing when a script wants none. Headers of ours go only to a run of loadgen: others meet what they would meet elsewhere.
fn respond(shared: &Shared, identity: &Identity, decided: &Decided) -> Option<Response<Full<Bytes>>> {
    let Decided { answer, .. } = decided;
    let is_ours = identity.run.is_some();
    let teller = teller(&shared.clock, is_ours);
    let mut response = match (answer.fault(), decided.reply(), answer.verdict) {
        (Some(Fault::Status(code)), ..) => text(status(code), "failed\n"),
        (_, Some(Reply::Close), _) => return None,
        (_, Some(Reply::Answer(scripted)), _) => self::scripted(scripted, teller.wall(answer.at)),
        // Nothing was started: this tells nothing of the server.
        (_, None, Verdict::Deferred) => return Some(deferred(decided.reject_status)),
        // What failed has no answer that is whole, except by the line above.
        (_, None, Verdict::Accepted | Verdict::Failed) => text(StatusCode::OK, "served\n"),
        (_, None, Verdict::Conflict) => {
            text(StatusCode::PRECONDITION_FAILED, "somebody else wrote meanwhile\n")
        }
        (_, None, Verdict::Rejected) => text(status(decided.reject_status), "busy\n"),
    };
    if let (Some(answers), Some(facts)) = (&decided.answers, answer.facts()) {
        put_into_words(&mut response, answers.render(&answer.told(facts), &teller));
    } else if let Some(after) = answer.advice {
        if decided.tells_wait {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(teller.whole_seconds(after)));
        }
        if is_ours {
            response.headers_mut().insert(WAIT, HeaderValue::from(nanos(after)));
        }
    }
    let headers = response.headers_mut();
    if identity.step != Step::Work {
        let tag = HeaderValue::from_str(&format!("\"{}\"", answer.version));
        headers.insert(ETAG, tag.expect("a number in quotes is a header value"));
    }
    if is_ours {
        headers.insert(MOCK, HeaderValue::from_static(wire::MOCK_VERSION));
        headers.insert(HeaderName::from_static(wire::BUSY), HeaderValue::from(answer.busy));
        if let Some(cap) = answer.cap {
            headers.insert(HeaderName::from_static(wire::CAP), HeaderValue::from(cap));
        }
        let limits = answer.limits();
        if !limits.is_empty()
            && let Ok(told) = HeaderValue::from_str(&limits.to_string())
        {
            headers.insert(HeaderName::from_static(wire::LIMITS), told);
        }
        headers.insert(HeaderName::from_static(wire::TOOK), HeaderValue::from(nanos(decided.took)));
        // What a script says is judged by its status.
        if answer.reply.is_none() || answer.is_spoiled() {
            headers.insert(VERDICT, HeaderValue::from_static(verdict(answer)));
        }
        headers.insert(AT, HeaderValue::from(answer.at.as_nanos()));
    }
    Some(response)
}

/// In what time this server speaks: to a run, which goes at its own scale, that of the experiment.
fn teller(clock: &Clock, is_ours: bool) -> Teller {
    if is_ours { Teller::experiment(clock.anchor) } else { Teller::real(clock.anchor, clock.scale) }
}

/// What templates say goes before the server's own words.
fn put_into_words(response: &mut Response<Full<Bytes>>, rendered: Rendered<'_>) {
    if let Some(code) = rendered.status {
        *response.status_mut() = status(code);
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

/// What the client is to count: an answer that is spoiled is a failure to it, whatever was done for it.
fn verdict(answer: &Answer) -> &'static str {
    let [accepted, rejected, failed] = wire::VERDICTS;
    match answer.verdict {
        _ if answer.is_spoiled() => failed,
        Verdict::Failed => failed,
        Verdict::Accepted => accepted,
        Verdict::Rejected | Verdict::Conflict | Verdict::Deferred => rejected,
    }
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
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

/// Too little is free for an attempt that looked first; only a run of loadgen asks for that.
fn deferred(reject_status: u16) -> Response<Full<Bytes>> {
    let mut response = text(status(reject_status), "not started: less is free than the attempt asks for\n");
    response.headers_mut().insert(HeaderName::from_static(wire::DEFERRED), HeaderValue::from(1));
    response.headers_mut().insert(MOCK, HeaderValue::from_static(wire::MOCK_VERSION));
    response
}

fn text(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    answered(status, Bytes::from_static(words.as_bytes()))
}

fn answered(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    // Somebody between who kept the answer would pass for this server.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_tells_by_its_headers_which_half_of_a_conditional_write_it_is() {
        let write = |if_match| Step::Write { if_match };
        for (headers, expected) in [
            (&[][..], Step::Work),
            (&[("x-tailback-step", "read")], Step::Read),
            (&[("x-tailback-step", "nonsense")], Step::Work),
            (&[("if-match", "\"7\"")], write(7)),
            (&[("x-tailback-step", "read"), ("if-match", "\"7\"")], write(7)),
            (&[("if-match", "*")], Step::Work),
            (&[("if-match", "W/\"7\"")], write(NO_VERSION)),
            (&[("if-match", "\"+7\"")], write(NO_VERSION)),
            (&[("if-match", "\"07\"")], write(NO_VERSION)),
            (&[("if-match", "7")], write(NO_VERSION)),
            (&[("if-match", "")], write(NO_VERSION)),
            (&[("if-match", "\"1\", \"7\"")], write(NO_VERSION)),
            (&[("if-match", "\"1\""), ("if-match", "\"7\"")], write(NO_VERSION)),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_static(value));
            }
            assert_eq!(step(&map), expected, "{headers:?}");
        }
    }
}
