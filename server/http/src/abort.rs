//! Requests that end without a whole answer.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// Asks the connection to end a request without its answer. A handler puts it into the extensions of its response, because
/// handlers of axum cannot fail; [`App::answer`](crate::app::App::answer) acts on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// The client is gone, and nobody reads an answer.
    ClientGone,
    /// A fault resets the connection, or the stream of HTTP/2.
    Reset,
    /// A fault or a script ends the connection, or the stream of HTTP/2, in order.
    Close,
    /// A fault ends a connection of HTTP/1 after these bytes, which begin as every response does.
    CloseAfter(Bytes),
}

impl IntoResponse for Abort {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

/// Error by which hyper ends a connection of HTTP/1 or a stream of HTTP/2. It takes the code of a stream's reset from the source.
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
