//! A connection's socket, shared by the HTTP machinery and by whoever must know whether the client is still there.
//!
//! A client may end its sending side when its request is out, and wait for the answer; another goes away. Both look
//! alike here, until something is sent: only one that is gone resets. Now every answer begins with an `H`, whatever it will
//! say. So when the sending side ends while a request is under way, that byte goes out at once and is left out later.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BufMut;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// How every answer begins.
const FIRST: u8 = b'H';

/// How a client that speaks HTTP/2 without having asked begins (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Room for what is read at once, in bytes: most requests are shorter.
const READ_ROOM: usize = 2048;

/// The socket of one connection. One task uses it.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    /// Whether everything that was to be written is.
    flushed: AtomicBool,
    /// Whether the next answer's first byte has been sent.
    ahead: AtomicBool,
}

/// The side of it that HTTP is spoken on.
#[derive(Debug)]
pub(crate) struct SocketIo {
    socket: Arc<Socket>,
    /// What was read before, and is not taken yet.
    first: Vec<u8>,
}

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl Protocol {
    /// What begins like this, if that can be told yet.
    fn of(first: &[u8]) -> Option<Self> {
        if first.starts_with(PREFACE) {
            Some(Self::Http2)
        } else if PREFACE.starts_with(first) {
            None
        } else {
            Some(Self::Http1)
        }
    }
}

impl Socket {
    fn new(stream: TcpStream) -> Self {
        Self { stream, flushed: AtomicBool::new(true), ahead: AtomicBool::new(false) }
    }

    /// Waits until the client says which HTTP it speaks; nothing if it ends before.
    pub(crate) async fn begin(stream: TcpStream) -> Option<(Protocol, SocketIo)> {
        let socket = Self::new(stream);
        let mut first = Vec::new();
        loop {
            if poll_fn(|context| socket.poll_read(context, &mut first)).await.ok()? == 0 {
                return None;
            }
            if let Some(protocol) = Protocol::of(&first) {
                return Some((protocol, SocketIo::new(Arc::new(socket), first)));
            }
        }
    }

    /// Reads more behind what is there already, as much as there is room or as comes at once; 0 at the end.
    fn poll_read(&self, context: &mut Context<'_>, more: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            if more.capacity() - more.len() < READ_ROOM / 2 {
                more.reserve(READ_ROOM);
            }
            let before = more.len();
            match self.read(more) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result.map(|()| more.len() - before)),
            }
        }
    }

    /// Returns when the client is gone. Only to be asked while a request is under way, and its body read.
    pub(crate) async fn gone(&self) {
        match self.stream.peek(&mut [0]).await {
            Ok(0) if self.sound().is_ok() => {}
            // Its next request: what comes after that cannot be seen.
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        // A reset. That nobody can say what became of the socket is no reason to give up on the client.
        if self.stream.ready(Interest::ERROR).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// When it is dropped the client is told so by a reset, and not by an end.
    pub(crate) fn reset_at_the_end(&self) {
        // Failing that, it is an end.
        drop(SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)));
    }

    /// Sends these bytes in the answer's place, as far as they can be sent at once, and nothing after them. They begin as answers do.
    pub(crate) fn end_with(&self, bytes: &[u8]) {
        // An earlier answer that is stuck half-way would end in them.
        if self.flushed.load(Ordering::Relaxed) {
            let sent = usize::from(self.ahead.load(Ordering::Relaxed));
            // Whoever does not take them meets an end all the same.
            drop(self.stream.try_write(bytes.get(sent..).unwrap_or_default()));
        }
        drop(SockRef::from(&self.stream).shutdown(Shutdown::Write));
    }

    /// Sends a byte to find out whether somebody listens.
    fn sound(&self) -> io::Result<()> {
        // An earlier answer that is stuck half-way will do as well.
        if !self.flushed.load(Ordering::Relaxed) || self.ahead.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.stream.try_write(&[FIRST]) {
            Ok(sent) => {
                self.ahead.store(sent > 0, Ordering::Relaxed);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read(&self, buffer: &mut impl BufMut) -> io::Result<()> {
        let mut in_part = false;
        let result = self.stream.try_io(Interest::READABLE, || {
            let room = buffer.chunk_mut().len();
            let read = self.stream.try_read_buf(buffer)?;
            // Nothing is left then, and one system call is saved: told as if it had been tried.
            in_part = 0 < read && read < room;
            if in_part { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        if in_part { Ok(()) } else { result }
    }

    fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(first) = parts.iter().find(|part| !part.is_empty()) else { return Ok(0) };
        if !self.ahead.load(Ordering::Relaxed) {
            return self.stream.try_write_vectored(parts);
        }
        let (FIRST, rest) = first.split_first().map_or((FIRST, &[][..]), |(first, rest)| (*first, rest))
        else {
            return Err(io::Error::other("an answer does not begin with `H`"));
        };
        let sent = if rest.is_empty() { 0 } else { self.stream.try_write(rest)? };
        self.ahead.store(false, Ordering::Relaxed);
        Ok(sent + 1)
    }
}

impl SocketIo {
    /// With what was read of it already.
    fn new(socket: Arc<Socket>, first: Vec<u8>) -> Self {
        Self { socket, first }
    }

    pub(crate) fn socket(&self) -> Arc<Socket> {
        self.socket.clone()
    }
}

impl AsyncRead for SocketIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let taken = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first[..taken]);
            self.first.drain(..taken);
            if self.first.is_empty() {
                self.first = Vec::new();
            }
            return Poll::Ready(Ok(()));
        }
        loop {
            ready!(self.socket.stream.poll_read_ready(context))?;
            match self.socket.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }
}

impl AsyncWrite for SocketIo {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.socket.flushed.store(false, Ordering::Relaxed);
        loop {
            ready!(self.socket.stream.poll_write_ready(context))?;
            match self.socket.write(parts) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Called when the HTTP machinery has nothing left to write.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.flushed.store(true, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.socket.stream).shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_which_http_it_is() {
        for (first, protocol) in [
            (&b""[..], None),
            (b"P", None),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r", None),
            (PREFACE, Some(Protocol::Http2)),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0", Some(Protocol::Http2)),
            (b"PO", Some(Protocol::Http1)),
            (b"GET / HTTP/1.1\r\n", Some(Protocol::Http1)),
            (b"PRI * HTTP/1.1\r\n", Some(Protocol::Http1)),
        ] {
            assert_eq!(Protocol::of(first), protocol, "{}", first.escape_ascii());
        }
    }
}
