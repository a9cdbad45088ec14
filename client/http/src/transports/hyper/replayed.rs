//! A connection that is used as if what was sent and heard on it were still to come.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::dialer::Stream;

/// What the other side did after what was heard.
pub(super) enum Ending {
    /// Nothing yet.
    Open,
    /// It closed the connection.
    Closed,
    /// It went wrong.
    Failed(io::Error),
}

/// Takes a request as sent that was sent already, and then brings what was heard once more. The general machinery writes a request
/// whole before it reads, so what it writes before it hears anything is that request.
pub(super) struct Replayed {
    stream: Stream,
    heard: Vec<u8>,
    ending: Ending,
    told: usize,
    phase: Phase,
    waits: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The request is still to come, and is not sent again.
    Asked,
    /// It came; what was heard is told.
    Telling,
    /// The connection is as it is.
    Over,
}

impl Replayed {
    /// A connection on which nothing was sent.
    pub(super) fn fresh(stream: Stream) -> Self {
        Self { stream, heard: Vec::new(), ending: Ending::Open, told: 0, phase: Phase::Over, waits: None }
    }

    /// A connection on which a request was sent, and this was heard.
    pub(super) fn after(stream: Stream, heard: Vec<u8>, ending: Ending) -> Self {
        Self { stream, heard, ending, told: 0, phase: Phase::Asked, waits: None }
    }

    /// Whether a request was sent on it.
    pub(super) fn was_asked(&self) -> bool {
        self.phase == Phase::Asked
    }

    /// Whether what is written was sent already.
    fn was_sent(&mut self) -> bool {
        match self.phase {
            Phase::Asked => {
                self.phase = Phase::Telling;
                if let Some(waker) = self.waits.take() {
                    waker.wake();
                }
                true
            }
            Phase::Telling => self.told == 0,
            Phase::Over => false,
        }
    }
}

impl AsyncRead for Replayed {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.phase == Phase::Asked {
            this.waits = Some(context.waker().clone());
            return Poll::Pending;
        }
        if this.phase == Phase::Telling {
            let rest = &this.heard[this.told..];
            if !rest.is_empty() {
                let more = rest.len().min(into.remaining());
                into.put_slice(&rest[..more]);
                this.told += more;
                return Poll::Ready(Ok(()));
            }
            this.phase = Phase::Over;
            this.heard = Vec::new();
        }
        match std::mem::replace(&mut this.ending, Ending::Closed) {
            Ending::Open => {
                this.ending = Ending::Open;
                Pin::new(&mut this.stream).poll_read(context, into)
            }
            // It stays closed.
            Ending::Closed => Poll::Ready(Ok(())),
            Ending::Failed(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for Replayed {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.was_sent() {
            Poll::Ready(Ok(bytes.len()))
        } else {
            Pin::new(&mut this.stream).poll_write(context, bytes)
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.was_sent() {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        Pin::new(&mut this.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
