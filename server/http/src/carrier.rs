//! What carries a request and its answer: a connection of HTTP/1.1, or one stream of many over HTTP/2; and how either ends without an
//! answer.

use tokio::sync::Notify;

use crate::socket::Socket;
use crate::unanswered::Unanswered;

/// What carries one request and its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carrier<'a> {
    /// All of a connection, for as long as it takes.
    Connection(&'a Socket),
    /// A stream of its own, on a connection that can be told to end.
    Stream(&'a Leaving),
}

/// How a connection of HTTP/2 is told to end: after what is under way on it, and with a GOAWAY.
#[derive(Debug, Default)]
pub(crate) struct Leaving(Notify);

impl Leaving {
    /// Returns when it is to end.
    pub(crate) async fn asked(&self) {
        self.0.notified().await;
    }
}

impl Carrier<'_> {
    /// Returns when the client is gone. Only to be asked while a request is under way, and its body read.
    pub(crate) async fn gone(self) {
        match self {
            Self::Connection(socket) => socket.gone().await,
            // Whoever takes the request back, or is gone, has the machinery drop it.
            Self::Stream(_) => std::future::pending().await,
        }
    }

    /// A reset, as rough as the protocol has one.
    pub(crate) fn reset(self) -> Unanswered {
        match self {
            Self::Connection(socket) => {
                socket.reset_at_the_end();
                Unanswered::Fault
            }
            Self::Stream(_) => Unanswered::reset(h2::Reason::INTERNAL_ERROR),
        }
    }

    /// An end without an answer: of the connection, or of the stream and of a connection that takes no further ones. Others on it are
    /// not what a fault or a script meant.
    pub(crate) fn close(self) -> Unanswered {
        match self {
            Self::Connection(socket) => {
                socket.end_with(b"");
                Unanswered::Fault
            }
            Self::Stream(leaving) => {
                leaving.0.notify_one();
                Unanswered::reset(h2::Reason::CANCEL)
            }
        }
    }
}
