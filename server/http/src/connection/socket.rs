//! A connection's socket, shared by hyper and by the code that detects whether the client has disconnected.
//!
//! A client may close its sending side after its request and still wait for the answer. Another client may disconnect completely. The
//! server cannot distinguish these two cases until it sends something, because only a disconnected client then resets the connection.
//!
//! So if the sending side closes while a request is in flight, the server sends the first byte of the answer at once. This byte is known in
//! advance, because every answer starts with `H`. When the server later sends the answer, it leaves out this byte.

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

const FIRST: u8 = b'H';

/// First bytes of a client that uses HTTP/2 with prior knowledge (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// First byte of a TLS handshake (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;

/// Buffer space for each read, in bytes. Most requests are shorter.
const READ_ROOM: usize = 2048;

/// Socket of a connection. It is used by one task only.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    flushed: AtomicBool,
    /// Whether the first byte of the next answer has already been sent.
    ahead: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct SocketIo {
    pub(super) socket: Arc<Socket>,
    /// Bytes that were read from the socket to detect the HTTP version, and that hyper has not consumed yet.
    first: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
    /// A TLS handshake, which this server does not answer.
    Tls,
}

impl Protocol {
    fn detect(first: &[u8]) -> Option<Self> {
        if first.first() == Some(&TLS_HANDSHAKE) {
            Some(Self::Tls)
        } else if first.starts_with(PREFACE) {
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

    pub(crate) async fn begin(stream: TcpStream) -> Option<(Protocol, SocketIo)> {
        let socket = Self::new(stream);
        let mut first = Vec::new();
        loop {
            if poll_fn(|context| socket.poll_read(context, &mut first)).await.ok()? == 0 {
                return None;
            }
            if let Some(protocol) = Protocol::detect(&first) {
                return Some((protocol, SocketIo { socket: Arc::new(socket), first }));
            }
        }
    }

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

    pub(crate) async fn gone(&self) {
        match self.stream.peek(&mut [0]).await {
            Ok(0) if self.sound().is_ok() => {}
            // The client has already sent its next request. From now on, reading cannot detect a disconnect.
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        // Waits until the connection is reset. If the state of the socket cannot be determined, the client counts as still connected.
        if self.stream.ready(Interest::ERROR).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn reset_at_the_end(&self) {
        // An error is ignored, because it only means that the connection is closed normally instead of being reset.
        drop(SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)));
    }

    /// Sends `bytes` in place of the answer, as many as possible without waiting, and then closes the sending side. The bytes must start
    /// with the first byte of an answer.
    pub(crate) fn end_with(&self, bytes: &[u8]) {
        // If an earlier answer is only partly written, the bytes are not sent, because they would continue that answer.
        if self.flushed.load(Ordering::Relaxed) {
            let sent = usize::from(self.ahead.load(Ordering::Relaxed));
            // An error is ignored, because the connection is closed whether or not the client gets the bytes.
            drop(self.stream.try_write(bytes.get(sent..).unwrap_or_default()));
        }
        drop(SockRef::from(&self.stream).shutdown(Shutdown::Write));
    }

    /// Sends the first byte of the answer ahead of the rest. If the client has disconnected, this byte provokes a reset of the connection.
    fn sound(&self) -> io::Result<()> {
        // No extra byte is needed while the rest of an earlier answer is being sent. If the client has disconnected, that rest provokes a
        // reset, too.
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
            // Fast path: a read that does not fill its buffer has read everything. Reporting `WouldBlock` at once saves the system call
            // that would otherwise return it.
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

    /// Records that all output has been written. hyper calls this method when it has no more output to write.
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
    fn the_first_bytes_determine_the_http_version() {
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
            assert_eq!(Protocol::detect(first), protocol, "{}", first.escape_ascii());
        }
    }
}
