//! The channel of a request and its answer: a connection of HTTP/1.1, or one stream of many over HTTP/2; and how either ends without an
//! answer.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::abort::{Abort, Unanswered};
use crate::socket::Socket;

/// The client of a request and its channel. An extension of every request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    pub(crate) channel: Channel,
}

/// The channel of one request and its answer.
#[derive(Clone, Debug)]
pub(crate) enum Channel {
    /// All of a connection, for as long as it takes.
    Connection(Arc<Socket>),
    /// A stream of its own, on a connection that can be told to end.
    Stream(Arc<Leaving>),
}

/// Ends a connection of HTTP/2 gracefully: after the requests in flight on it, and with a GOAWAY.
#[derive(Debug, Default)]
pub(crate) struct Leaving(Notify);

impl Leaving {
    /// Returns when the connection is to end.
    pub(crate) async fn requested(&self) {
        self.0.notified().await;
    }
}

impl Channel {
    /// Returns when the client is gone. Only to be called while a request is in service, and after its body was read.
    pub(crate) async fn gone(&self) {
        match self {
            Self::Connection(socket) => socket.gone().await,
            // When the client resets the stream or is gone, hyper drops the request's future.
            Self::Stream(_) => std::future::pending().await,
        }
    }

    /// Ends a request without its answer. Over HTTP/2 this ends the stream only, because faults and scripts mean one request; an
    /// orderly end also stops the connection from taking further ones.
    pub(crate) fn abort(&self, abort: Abort) -> Unanswered {
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
        Unanswered::new(abort, code)
    }
}
