//! One connection of HTTP/1.1 whose answers are plain: what is sent is written once, and answers are read where they lie.

use std::future::poll_fn;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::header::HeaderName;
use loadgen_core::Launched;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::answer_head::{self, Heard};
use super::replayed::{Ending, Replayed};
use crate::connecting::Open;
use crate::dialer::Stream;
use crate::prepared::{OWN, Prepared, Step};

/// A connection on which nothing but plain answers has come yet.
pub(super) struct PlainLink {
    stream: Stream,
    open: Open,
    /// The request.
    output: Vec<u8>,
    /// What has come, and how much of it.
    input: Box<[u8; MOST_INPUT]>,
    filled: usize,
}

/// The largest answer that is read here, in bytes, head and body: a mockserver's take some hundred.
const MOST_INPUT: usize = 2048;

/// The largest body that is sent from here, in bytes.
const MOST_BODY: usize = 16 << 10;

/// What came of a request.
pub(super) enum Plain<T> {
    /// A plain answer, understood; another request can be sent.
    Answered(T, Box<PlainLink>),
    /// The connection had ended before anything was sent.
    Ended,
    /// Anything else, for the general machinery: the connection as if nothing had been sent or heard on it.
    Other(Box<Replayed>, Open),
}

impl PlainLink {
    pub(super) fn new(stream: Stream, open: Open) -> Self {
        Self { stream, open, output: Vec::new(), input: Box::new([0; MOST_INPUT]), filled: 0 }
    }

    /// Sends one request and reads its answer; `render` writes the request, or says that it is not plain; `understand` gets
    /// status, headers and body.
    pub(super) async fn exchange<T>(
        mut self: Box<Self>,
        render: impl FnOnce(&mut Vec<u8>) -> bool,
        understand: impl Fn(u16, &[httparse::Header<'_>], &[u8]) -> T,
    ) -> Plain<T> {
        self.output.clear();
        if !render(&mut self.output) {
            return Plain::Other(Box::new(Replayed::fresh(self.stream)), self.open);
        }
        if !self.is_quiet().await {
            return Plain::Ended;
        }
        let sent = poll_fn(|context| self.poll_send(context)).await;
        if let Err(error) = sent {
            return self.hand_over(Ending::Failed(error));
        }
        loop {
            let ending = match poll_fn(|context| self.poll_read(context)).await {
                Ok(0) => Ending::Closed,
                Ok(more) => {
                    self.filled += more;
                    match answer_head::read(&self.input[..self.filled], MOST_INPUT - 1, &understand) {
                        Heard::Partial => continue,
                        Heard::Plain(understood) => {
                            self.filled = 0;
                            return Plain::Answered(understood, self);
                        }
                        Heard::Other => Ending::Open,
                    }
                }
                Err(error) => Ending::Failed(error),
            };
            return self.hand_over(ending);
        }
    }

    /// Whether the server has said nothing since the last answer: a close, above all.
    async fn is_quiet(&mut self) -> bool {
        poll_fn(|context| Poll::Ready(self.poll_read(context).is_pending())).await
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sent = 0;
        while sent < self.output.len() {
            match Pin::new(&mut self.stream).poll_write(context, &self.output[sent..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(more)) => sent += more,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.output.drain(..sent);
                    return Poll::Pending;
                }
            }
        }
        self.output.clear();
        // Behind TLS nothing needs to be written before it is flushed.
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut into = ReadBuf::new(&mut self.input[self.filled..]);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut into))?;
        Poll::Ready(Ok(into.filled().len()))
    }

    fn hand_over<T>(self, ending: Ending) -> Plain<T> {
        let heard = self.input[..self.filled].to_vec();
        Plain::Other(Box::new(Replayed::after(self.stream, heard, ending)), self.open)
    }
}

/// Writes one request of an attempt; false where it is not plain.
pub(super) fn write(out: &mut Vec<u8>, prepared: &Prepared, attempt: &Launched, step: &Step) -> bool {
    let template = prepared.template(attempt, step);
    let body = prepared.body_of(template);
    let Some(head) = template.wire.as_ref().filter(|_| body.len() <= MOST_BODY) else { return false };
    out.extend_from_slice(head);
    if let Some(numbers) = prepared.own_numbers(attempt) {
        for (name, number) in OWN.iter().zip(numbers) {
            begin(out, name);
            // Writing into memory cannot fail.
            let _ = match u8::try_from(number) {
                Ok(small @ 0..=9) => out.write_all(&[b'0' + small, b'\r', b'\n']),
                _ => write!(out, "{number}\r\n"),
            };
        }
    }
    for (name, value) in prepared.own_headers(attempt, step) {
        begin(out, &name);
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
    true
}

fn begin(out: &mut Vec<u8>, name: &HeaderName) {
    out.extend_from_slice(name.as_str().as_bytes());
    out.extend_from_slice(b": ");
}
