//! Attempts as sequences of requests and answers, independent of the transport.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ETAG, HeaderValue};
use http_body::Body;
use http_body_util::BodyExt as _;
use loadgen_core::{Cause, ErrorKind, Launched};
use tailback::{Failure, Outcome, Status};

use crate::prepared::{Prepared, Step};
use crate::transport::Answer;

/// Maximum size of an answer's body, in bytes. A longer body counts as a transport failure.
const MAX_BODY: u64 = 64 << 20;

pub(crate) trait Exchange {
    fn prepared(&self) -> &Prepared;

    /// Sends one request of an attempt and reads the answer to its end, so that the connection can be reused. An incomplete
    /// answer is an error.
    fn exchange(
        &self,
        attempt: &Launched,
        step: Step,
    ) -> impl Future<Output = Result<ParsedResponse, ErrorKind>> + Send;
}

pub(crate) struct ParsedResponse {
    pub(crate) answer: Answer,
    /// Entity tag of the object, after a read.
    pub(crate) tag: Option<HeaderValue>,
}

/// Makes an attempt. A read-modify-write is a read, followed at once by a conditional write. A read without success ends the
/// attempt, and a read without an entity tag fails it permanently.
pub(crate) async fn attempt(by: &(impl Exchange + Sync), attempt: &Launched) -> Answer {
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

/// Reads a body to its end and returns its first `most_kept` bytes.
///
/// # Errors
/// If the body breaks off, or is longer than any answer should be.
pub(crate) async fn drain<B>(mut body: B, most_kept: usize) -> Result<Vec<u8>, Undrained<B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut left = MAX_BODY;
    let mut kept = Vec::new();
    // Fast path: after the last frame, most bodies are known to be complete and are not polled again.
    while !body.is_end_stream()
        && let Some(frame) = body.frame().await
    {
        let frame = frame.map_err(Undrained::Broken)?;
        let Some(chunk) = frame.data_ref() else { continue };
        let room = most_kept.saturating_sub(kept.len()).min(chunk.len());
        kept.extend_from_slice(&chunk[..room]);
        left = left.checked_sub(chunk.len() as u64).ok_or(Undrained::Long)?;
    }
    Ok(kept)
}

pub(crate) enum Undrained<E> {
    Broken(E),
    Long,
}

pub(crate) fn tag_of(step: &Step, headers: &HeaderMap) -> Option<HeaderValue> {
    let is_read = matches!(step, Step::Read);
    is_read.then(|| headers.get(ETAG)).flatten().cloned()
}

/// Returns true if a request uses carrier sense, which requires free slots for it to start. A write after a read does not,
/// because the read did.
pub(crate) fn looks(attempt: &Launched, step: &Step) -> bool {
    attempt.least_free > 0 && !matches!(step, Step::Write(_))
}
