//! Attempts as sequences of requests and answers, implemented once for all transports.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ETAG, HeaderValue};
use http_body::Body;
use http_body_util::BodyExt as _;
use loadgen_core::{Cause, ErrorKind, SentAttempt};
use tailback::{Failure, Outcome, Status};
use vocabulary::grpc;

use crate::request::{Prepared, Step};
use crate::response::kept_body::KeptBody;
use crate::transport::Answer;

pub(crate) trait Exchange {
    fn prepared(&self) -> &Prepared;

    /// Sends one request of an attempt and reads the answer completely, so that the connection can be reused. An incomplete
    /// answer is an error.
    fn exchange(
        &self,
        attempt: &SentAttempt,
        step: Step,
    ) -> impl Future<Output = Result<ParsedResponse, ErrorKind>> + Send;
}

pub(crate) struct ParsedResponse {
    pub(crate) answer: Answer,
    /// Entity tag of the object, if the request was a read.
    pub(crate) tag: Option<HeaderValue>,
}

/// Makes an attempt. For a read-modify-write, it sends a read, immediately followed by a conditional write. If the read does not succeed,
/// the attempt ends with the result of the read. If the answer to the read has no entity tag, the attempt fails permanently.
pub(crate) async fn attempt(by: &(impl Exchange + Sync), attempt: &SentAttempt) -> Answer {
    if !by.prepared().reads_first() {
        return match by.exchange(attempt, Step::Only).await {
            Ok(response) => response.answer,
            Err(kind) => Answer::none(kind),
        };
    }
    let ParsedResponse { answer: read, tag } = match by.exchange(attempt, Step::Read).await {
        Ok(response) if response.answer.outcome.status == Status::Succeeded => response,
        Ok(response) => return response.answer,
        Err(kind) => return Answer::none(kind),
    };
    let Some(tag) = tag else {
        return Answer {
            outcome: Outcome::plain(Status::Failed(Failure::Fatal)),
            cause: Some(Cause::Error(ErrorKind::NoTag)),
            ..read
        };
    };
    let mut answer = match by.exchange(attempt, Step::Write(tag)).await {
        Ok(response) => response.answer,
        Err(kind) => return Answer::none(kind),
    };
    answer.by_gateway |= read.by_gateway;
    if let Some(seen) = &mut answer.server {
        let took_before = read.server.and_then(|seen| seen.took);
        seen.took = seen.took.zip(took_before).map(|(write, read)| read + write);
    }
    answer
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

pub(crate) fn tag_of(step: &Step, headers: &HeaderMap) -> Option<HeaderValue> {
    let is_read = matches!(step, Step::Read);
    is_read.then(|| headers.get(ETAG)).flatten().cloned()
}

/// Returns true if a request uses carrier sense, so that the server starts it only if enough slots are free. A write after a read does not
/// use carrier sense, because the read has already done so.
pub(crate) fn looks(attempt: &SentAttempt, step: &Step) -> bool {
    attempt.min_free > 0 && !matches!(step, Step::Write(_))
}
