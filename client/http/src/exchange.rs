//! How an attempt is made of requests and their answers, whichever transport carries them.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ETAG, HeaderValue};
use http_body::Body;
use http_body_util::BodyExt as _;
use loadgen_core::{Cause, ErrorKind, Launched};
use tailback::{Failure, Outcome, Status};

use crate::prepared::{Prepared, Step};
use crate::transport::Answer;

/// The most of an answer's body that is read; a longer one counts as a transport failure.
const LONGEST_BODY: u64 = 64 << 20;

/// Carries one request to the server, and its answer back.
pub(crate) trait Exchange {
    /// What is sent.
    fn prepared(&self) -> &Prepared;

    /// Sends one request of an attempt and reads the answer to its end, so that the connection can be used again; without an
    /// end it is none.
    fn exchange(
        &self,
        attempt: &Launched,
        step: Step,
    ) -> impl Future<Output = Result<Heard, ErrorKind>> + Send;
}

/// An answer that came whole.
pub(crate) struct Heard {
    pub(crate) answer: Answer,
    /// The entity tag of what was read.
    pub(crate) tag: Option<HeaderValue>,
}

/// Makes an attempt. A read-modify-write is a read and then at once a conditional write; a read that is not answered with
/// success ends the attempt, and one that is answered without a tag fails it for good.
pub(crate) async fn attempt(by: &(impl Exchange + Sync), attempt: &Launched) -> Answer {
    if !by.prepared().reads_first() {
        return match by.exchange(attempt, Step::Only).await {
            Ok(heard) => heard.answer,
            Err(kind) => Answer::none(kind),
        };
    }
    let Heard { answer: read, tag } = match by.exchange(attempt, Step::Read).await {
        Ok(heard) if heard.answer.outcome.status == Status::Succeeded => heard,
        Ok(heard) => return heard.answer,
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
        Ok(heard) => heard.answer,
        Err(kind) => return Answer::none(kind),
    };
    answer.by_gateway |= read.by_gateway;
    if let Some(seen) = &mut answer.server {
        let took_before = read.server.and_then(|seen| seen.took);
        seen.took = seen.took.zip(took_before).map(|(write, read)| read + write);
    }
    answer
}

/// Reads a body to its end; what is kept of it is its beginning.
///
/// # Errors
/// When it does not end, or is longer than any answer should be.
pub(crate) async fn drain<B>(mut body: B, most_kept: usize) -> Result<Vec<u8>, Undrained<B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut left = LONGEST_BODY;
    let mut kept = Vec::new();
    // Most bodies are known to be over when their last frame has come, and are not asked for another.
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

/// Why a body was not read to its end.
pub(crate) enum Undrained<E> {
    /// It broke off.
    Broken(E),
    /// It is longer than is read.
    Long,
}

/// The entity tag among an answer's headers, if the request read what is to be written then.
pub(crate) fn tag_of(step: &Step, headers: &HeaderMap) -> Option<HeaderValue> {
    let is_read = matches!(step, Step::Read);
    is_read.then(|| headers.get(ETAG)).flatten().cloned()
}

/// Whether a request of this step says what must be free for it to start: a write after a read looked when it read.
pub(crate) fn looks(attempt: &Launched, step: &Step) -> bool {
    attempt.least_free > 0 && !matches!(step, Step::Write(_))
}
