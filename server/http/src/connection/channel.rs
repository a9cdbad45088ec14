//! Channel of a request and its answer: an HTTP/1.1 connection or an HTTP/2 stream. A channel can also end a request without an answer.

use std::net::IpAddr;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tokio::sync::Notify;

use crate::connection::socket::Socket;

/// Client of a request: its address and channel. It is in the extensions of every request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    pub(crate) channel: Channel,
}

#[derive(Clone, Debug)]
pub(crate) enum Channel {
    Connection(Arc<Socket>),
    Stream(Arc<Leaving>),
}

/// Request to end an HTTP/2 connection gracefully. The server then sends a GOAWAY and finishes the requests in flight.
#[derive(Debug, Default)]
pub(crate) struct Leaving(Notify);

impl Leaving {
    pub(crate) async fn requested(&self) {
        self.0.notified().await;
    }
}

impl Channel {
    /// Waits until the client has disconnected. Must be called only while a request is in service and after its body was read.
    pub(crate) async fn gone(&self) {
        match self {
            Self::Connection(socket) => socket.gone().await,
            // For an HTTP/2 stream the wait never ends, because hyper drops the future of the request when the client resets the stream or
            // disconnects.
            Self::Stream(_) => std::future::pending().await,
        }
    }

    /// Ends a request without its answer. Over HTTP/2 this ends only the request's stream, because faults and scripts apply to a single
    /// request. After [`Abort::Close`] and [`Abort::CloseAfter`], the connection also stops accepting requests.
    pub(crate) fn abort(&self, abort: Abort) -> AbortError {
        let code = match self {
            Self::Connection(socket) => {
                match &abort {
                    Abort::ClientGone => {}
                    Abort::Reset => socket.reset_at_the_end(),
                    Abort::Close => socket.end_with(b""),
                    Abort::CloseAfter(bytes) => socket.end_with(bytes),
                }
                h2::Reason::CANCEL
            }
            Self::Stream(leaving) => match &abort {
                Abort::Reset => h2::Reason::INTERNAL_ERROR,
                Abort::Close | Abort::CloseAfter(_) => {
                    leaving.0.notify_one();
                    h2::Reason::CANCEL
                }
                Abort::ClientGone => h2::Reason::CANCEL,
            },
        };
        AbortError::new(abort, code)
    }
}

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
