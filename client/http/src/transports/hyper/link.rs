//! One connection of HTTP/1.1, driven by whoever has an attempt on it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;

use super::replayed::Replayed;
use crate::connecting::Open;

/// A connection without a task of its own.
///
/// Whoever sends on it drives it, and while it is idle nobody does. What happened to it then, a close above all, is seen when
/// it is used next, before the request is written.
pub(super) struct Link {
    sender: SendRequest<Full<Bytes>>,
    /// `None` once the connection is over.
    connection: Option<Driven>,
    _open: Open,
}

/// Task that reads and writes while it is polled.
type Driven = Connection<TokioIo<Box<Replayed>>, Full<Bytes>>;

impl Link {
    /// HTTP over an open connection.
    pub(super) async fn new(stream: Box<Replayed>, open: Open) -> hyper::Result<Box<Self>> {
        let (sender, connection) = Builder::new().handshake(TokioIo::new(stream)).await?;
        Ok(Box::new(Self { sender, connection: Some(connection), _open: open }))
    }

    /// Sends a request and brings the head of its answer.
    ///
    /// # Errors
    /// What went wrong, with the request in it if nothing of that was sent.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        let mut response = pin!(self.sender.try_send_request(request));
        let connection = &mut self.connection;
        poll_fn(|context| {
            drive(connection, context);
            response.as_mut().poll(context)
        })
        .await
    }

    /// Does something with the answer's body, which comes by this connection.
    pub(super) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let connection = &mut self.connection;
        poll_fn(|context| {
            // First: it says to the connection that a body is wanted at all, and often has come already.
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            drive(connection, context);
            work.as_mut().poll(context)
        })
        .await
    }

    /// Whether another request can be sent, once an answer has come whole.
    pub(super) async fn can_be_used_again(&mut self) -> bool {
        if !self.sender.is_ready() {
            let connection = &mut self.connection;
            poll_fn(|context| {
                drive(connection, context);
                Poll::Ready(())
            })
            .await;
        }
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Polls a connection, and drops it once it is over: only then does hyper return a request that it has not sent. The response
/// that was waited for carries the reason for the end.
fn drive(connection: &mut Option<Driven>, context: &mut Context<'_>) {
    if connection.as_mut().is_some_and(|open| Pin::new(open).poll(context).is_ready()) {
        *connection = None;
    }
}
