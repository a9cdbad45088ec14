//! Ways to end a request without a complete answer.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// Reason to end a request without its answer. A handler inserts it into the extensions of its response, because axum handlers cannot fail.
/// [`App::answer`](crate::app::App::answer) then ends the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    ClientGone,
    Reset,
    Close,
    /// Effect of a fault: the HTTP/1 connection is closed after these bytes are sent. The bytes start like every response, because the
    /// start of the response may already be sent.
    CloseAfter(Bytes),
}

impl IntoResponse for Abort {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

/// Error by which hyper ends an HTTP/1 connection or an HTTP/2 stream. Its source contains the error code with which a stream is reset.
#[derive(Debug, thiserror::Error)]
#[error("the request ends without an answer, on purpose ({abort:?})")]
pub(crate) struct AbortError {
    abort: Abort,
    source: h2::Error,
}

impl AbortError {
    pub(crate) fn new(abort: Abort, code: h2::Reason) -> Self {
        Self { abort, source: code.into() }
    }
}
