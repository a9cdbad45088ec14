//! One connection of HTTP/1.1 and the task that drives it.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::JoinHandle;

use crate::connecting::Open;
use crate::dialer::Stream;

/// An open connection that carries one request at a time. Dropping it closes the connection.
///
/// Its task reads and writes, also while no request is in flight. So the connection ends as soon as the server closes it.
pub(super) struct Link {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

impl Link {
    /// Starts HTTP on an open connection.
    pub(super) async fn new(stream: Stream, open: Open, builder: &Builder) -> hyper::Result<Self> {
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let task = tokio::spawn(async move {
            // The request in flight receives the error.
            drop(connection.await);
            drop(open);
        });
        Ok(Self { sender, task })
    }

    /// Sends a request and returns the head of its response.
    ///
    /// # Errors
    /// The reason for the failure, with the request if none of it was sent.
    pub(super) fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>>> + use<> {
        self.sender.try_send_request(request)
    }

    /// Whether another request can be sent, once a response was read to its end.
    pub(super) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }
}

impl Drop for Link {
    /// Aborts the task, because an orderly shutdown would wait for a server that does not read.
    fn drop(&mut self) {
        self.task.abort();
    }
}
