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

/// Makes an attempt and writes its result. Dropping the future withdraws the attempt.
pub(crate) async fn send<T: Transport>(
    by: &T,
    link: &mut T::Link,
    launched: &SentAttempt,
    result: &mut AttemptResult,
) {
    let _request = by.common().connecting.begin_request();
    let sent = if by.common().prepared.reads_first() {
        // The future is boxed, because it would otherwise make the future of every attempt larger.
        Box::pin(read_and_write(by, link, launched, result)).await
    } else {
        exchange(by, link, launched, &Step::Only, result, &mut None).await
    };
    if let Err(kind) = sent {
        *result = AttemptResult::failed(kind);
    }
}

/// Makes an attempt of a read-modify-write: a read, immediately followed by a conditional write. If the read does not succeed, the attempt
/// ends with the result of the read. If the answer to the read has no entity tag, the attempt fails permanently.
async fn read_and_write<T: Transport>(
    by: &T,
    link: &mut T::Link,
    attempt: &SentAttempt,
    result: &mut AttemptResult,
) -> Result<(), ErrorKind> {
    let mut tag = None;
    exchange(by, link, attempt, &Step::Read, result, &mut tag).await?;
    let read = *result;
    if read.outcome.status != Status::Succeeded {
        return Ok(());
    }
    let Some(tag) = tag else {
        result.outcome = Outcome::plain(Status::Failed(Failure::Fatal));
        result.cause = Some(Cause::Error(ErrorKind::NoTag));
        return Ok(());
    };
    exchange(by, link, attempt, &Step::Write(tag), result, &mut None).await?;
    result.by_gateway |= read.by_gateway;
    if let Some(seen) = &mut result.server {
        let took_before = read.server.and_then(|seen| seen.took);
        seen.took = seen.took.zip(took_before).map(|(write, read)| read + write);
    }
    Ok(())
}

/// Sends one request of an attempt. Writes its result, and the entity tag of the object if the request was a read. It is not an `async fn`,
/// because each of them moves the large futures inside it once more.
fn exchange<'a, T: Transport>(
    by: &'a T,
    link: &'a mut T::Link,
    attempt: &'a SentAttempt,
    step: &'a Step,
    result: &'a mut AttemptResult,
    tag: &'a mut Option<HeaderValue>,
) -> impl Future<Output = Result<(), ErrorKind>> + Send + 'a {
    // The server starts a request with carrier sense only if enough slots are free. A write after a read does not use carrier sense,
    // because the read has already done so.
    let sensed = attempt.min_free > 0 && !matches!(step, Step::Write(_));
    by.exchange(link, attempt, step, move |head, body| {
        *result = by.common().understanding.of(head.status.as_u16(), &head.headers, body, sensed);
        if matches!(step, Step::Read) {
            *tag = head.headers.get(ETAG).cloned();
        }
    })
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
