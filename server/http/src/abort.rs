//! Requests that end without a whole answer.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// Makes the connection end a request without its answer. A handler puts it into the extensions of its response, because axum handlers
/// cannot fail; [`App::answer`](crate::app::App::answer) acts on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    ClientGone,
    Reset,
    Close,
    /// A fault closes an HTTP/1 connection after these bytes, which start like every response.
    CloseAfter(Bytes),
}

impl IntoResponse for Abort {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

/// Error with which hyper ends an HTTP/1 connection or an HTTP/2 stream. The source holds the code of a stream's reset.
#[derive(Debug, thiserror::Error)]
#[error("the request ends without an answer ({abort:?})")]
pub(crate) struct Unanswered {
    abort: Abort,
    source: h2::Error,
}

impl Unanswered {
    pub(crate) fn new(abort: Abort, code: h2::Reason) -> Self {
        Self { abort, source: code.into() }
    }
}
