//! HTTP/1.1 connection that carries one request at a time, and the task that reads and writes on it.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::JoinHandle;

use crate::transport::connecting::Open;
use crate::transport::dialer::Stream;

/// An open connection that carries one request at a time. Dropping this value closes the connection.
///
/// A task reads and writes on the connection, even while no request is in flight. So the task ends as soon as the server closes the
/// connection.
pub(super) struct Link {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
    /// Body of the last response. It is kept, because dropping a body wakes the connection's task. The next request wakes the task anyway,
    /// so the body is dropped then. This saves one poll per request.
    last_body: Option<Incoming>,
}

impl Link {
    pub(super) async fn new(stream: Stream, open: Open, builder: &Builder) -> hyper::Result<Self> {
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let task = tokio::spawn(Driver { connection, _open: open });
        Ok(Self { sender, task, last_body: None })
    }

    /// Sends a request and returns the head of its response.
    ///
    /// # Errors
    /// The error contains the reason for the failure. It also contains the request, if no part of the request was sent.
    pub(super) fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>>> + use<> {
        self.last_body = None;
        self.sender.try_send_request(request)
    }

    /// Stores a response body that was read completely. Returns whether the connection can send another request.
    pub(super) fn finish(&mut self, body: Incoming) -> bool {
        self.last_body = Some(body);
        self.sender.is_ready()
    }
}

/// Future that drives a connection in its task. An async block is not used, because it would store the connection twice.
struct Driver {
    connection: Connection<TokioIo<Stream>, Full<Bytes>>,
    _open: Open,
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // The error of the connection is ignored here, because the request in flight receives it, too.
        Pin::new(&mut self.connection).poll(context).map(drop)
    }
}

impl Drop for Link {
    /// Aborts the connection's task. An orderly shutdown would wait until the server reads the remaining data, which may never happen.
    fn drop(&mut self) {
        self.task.abort();
    }
}
