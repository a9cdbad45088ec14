//! Attempts as sequences of requests and answers, implemented once for all transports.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ETAG, HeaderValue};
use http_body::Body;
use http_body_util::BodyExt as _;
use loadgen_core::{AttemptResult, Cause, ErrorKind, SentAttempt};
use tailback::{Failure, Outcome, Status};
use vocabulary::grpc;

use crate::request::Step;
use crate::response::kept_body::KeptBody;
use crate::transport::Transport;

/// Makes an attempt. Dropping the future withdraws the attempt.
pub(crate) async fn send<T: Transport>(by: &T, link: &mut T::Link, launched: &SentAttempt) -> AttemptResult {
    let _request = by.common().connecting.begin_request();
    attempt(by, link, launched).await.unwrap_or_else(AttemptResult::failed)
}

/// Makes an attempt. For a read-modify-write, it sends a read, immediately followed by a conditional write. If the read does not succeed,
/// the attempt ends with the result of the read. If the answer to the read has no entity tag, the attempt fails permanently.
async fn attempt<T: Transport>(
    by: &T,
    link: &mut T::Link,
    attempt: &SentAttempt,
) -> Result<AttemptResult, ErrorKind> {
    if !by.common().prepared.reads_first() {
        return Ok(exchange(by, link, attempt, &Step::Only).await?.0);
    }
    let (read, tag) = exchange(by, link, attempt, &Step::Read).await?;
    if read.outcome.status != Status::Succeeded {
        return Ok(read);
    }
    let Some(tag) = tag else {
        let outcome = Outcome::plain(Status::Failed(Failure::Fatal));
        return Ok(AttemptResult { outcome, cause: Some(Cause::Error(ErrorKind::NoTag)), ..read });
    };
    let (mut written, _) = exchange(by, link, attempt, &Step::Write(tag)).await?;
    written.by_gateway |= read.by_gateway;
    if let Some(seen) = &mut written.server {
        let took_before = read.server.and_then(|seen| seen.took);
        seen.took = seen.took.zip(took_before).map(|(write, read)| read + write);
    }
    Ok(written)
}

/// Sends one request of an attempt. Returns its result, and the entity tag of the object if the request was a read.
async fn exchange<T: Transport>(
    by: &T,
    link: &mut T::Link,
    attempt: &SentAttempt,
    step: &Step,
) -> Result<(AttemptResult, Option<HeaderValue>), ErrorKind> {
    let (head, body) = by.exchange(link, attempt, step).await?;
    // The server starts a request with carrier sense only if enough slots are free. A write after a read does not use carrier sense,
    // because the read has already done so.
    let sensed = attempt.min_free > 0 && !matches!(step, Step::Write(_));
    let result = by.common().understanding.of(head.status.as_u16(), &head.headers, &body, sensed);
    let tag = if matches!(step, Step::Read) { head.headers.get(ETAG).cloned() } else { None };
    Ok((result, tag))
}

/// Reads a body to its end, and adds its first bytes to `kept`. The body may have any length, because the attempt's timeout
/// limits the time. Adds gRPC fields of the trailers to `headers`, because gRPC sends the status of a call in the trailers
/// (`PROTOCOL-HTTP2.md`). All other trailers are ignored (RFC 9110, section 6.5.1).
///
/// # Errors
/// Fails if the body is incomplete.
pub(crate) async fn drain<B>(
    mut body: B,
    mut kept: KeptBody,
    headers: &mut HeaderMap,
) -> Result<KeptBody, B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    // Fast path: skips the final poll if the body is known to be complete after its last frame, as most bodies are.
    while !body.is_end_stream()
        && let Some(frame) = body.frame().await
    {
        match frame?.into_data() {
            Ok(chunk) => kept.add(&chunk),
            Err(frame) => {
                let trailers = frame.into_trailers().unwrap_or_default();
                for name in [grpc::STATUS, grpc::PUSHBACK] {
                    if let Some(value) = trailers.get(name) {
                        headers.insert(name, value.clone());
                    }
                }
            }
        }
    }
    Ok(kept)
}
