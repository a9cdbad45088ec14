//! HTTP/2 connection that carries several requests at once, each on its own stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use h2::Reason;
use h2::client::SendRequest;
use http::{Request, StatusCode, response};
use loadgen_core::ErrorKind;

use super::body::StreamBody;
use crate::error_kind::{Stage, of_stream};
use crate::response::kept_body::KeptBody;
use crate::transport::connecting::Connecting;
use crate::transport::dialer::Stream;
use crate::transport::exchange::drain;

/// Flow-control windows in bytes, per stream and per connection: the amount of data that a server may send before the client
/// has read it.
const WINDOWS: [u32; 2] = [1 << 20, 16 << 20];

/// An HTTP/2 connection. A task in the background carries all of its streams.
pub(super) struct Link {
    sender: SendRequest<Bytes>,
    streams: AtomicUsize,
    is_over: Arc<AtomicBool>,
}

pub(super) enum Carried {
    /// The answer is complete. Only the first bytes of its body are kept.
    Answered { head: response::Parts, body: KeptBody },
    /// The connection accepted no more requests, and the request was not sent.
    Unsent,
    /// The server reported that it did not process the request (RFC 9113, sections 6.8 and 8.7).
    Unprocessed(ErrorKind),
    /// The request failed without a usable response from the server.
    Lost(ErrorKind),
}

impl Link {
    /// Starts HTTP/2 on an open connection. Fails if client and server did not agree on HTTP/2 during the TLS handshake. `streams` is the
    /// maximum number of streams in flight until the server announces its own limit.
    pub(super) async fn open(
        stream: Stream,
        streams: usize,
        connecting: Connecting,
    ) -> Result<Arc<Self>, ErrorKind> {
        if !stream.agreed_on(b"h2") {
            return Err(ErrorKind::Tls);
        }
        let [of_stream_bytes, of_all] = WINDOWS;
        let (sender, connection) = h2::client::Builder::new()
            .enable_push(false)
            .initial_max_send_streams(streams)
            .initial_window_size(of_stream_bytes)
            .initial_connection_window_size(of_all)
            .handshake(stream)
            .await
            .map_err(|error| of_stream(&error, Stage::Connecting))?;
        let is_over = Arc::<AtomicBool>::default();
        let over = is_over.clone();
        tokio::spawn(async move {
            // The task ignores the error of its connection, because every stream receives the reason for the connection's end, too.
            drop(connection.await);
            over.store(true, Ordering::Relaxed);
            connecting.on_lost();
        });
        Ok(Arc::new(Self { sender, streams: AtomicUsize::new(0), is_over }))
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn streams(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    pub(super) fn allowed(&self) -> usize {
        if self.is_over() { 0 } else { self.sender.current_max_send_streams() }
    }

    /// Sends a request and reads its answer completely. `kept` returns the empty body of an answer with a given status, to which the first
    /// bytes are added.
    pub(super) async fn carry(
        &self,
        request: Request<()>,
        body: Bytes,
        kept: impl Fn(StatusCode) -> KeptBody,
    ) -> Carried {
        let _stream = Counted::new(&self.streams);
        let Ok(mut sender) = self.sender.clone().ready().await else {
            // The connection is marked as over, so that the next attempt uses another connection.
            self.is_over.store(true, Ordering::Relaxed);
            return Carried::Unsent;
        };
        let is_whole = body.is_empty();
        let (response, mut rest) = match sender.send_request(request, is_whole) {
            Ok(sent) => sent,
            Err(error) => return self.without_answer(&error),
        };
        if !is_whole && let Err(error) = rest.send_data(body, true) {
            return self.without_answer(&error);
        }
        let (mut head, body) = match response.await {
            Ok(response) => response.into_parts(),
            Err(error) => return self.without_answer(&error),
        };
        match drain(StreamBody(body), kept(head.status), &mut head.headers).await {
            Ok(body) => Carried::Answered { head, body },
            Err(error) => Carried::Lost(of_stream(&error, Stage::Answering)),
        }
    }

    /// Classifies an error before the head of the answer. After a GOAWAY, `h2` reports it only to streams above its last id. Streams at or
    /// below the last id continue, and receive the connection's own error when the connection ends.
    fn without_answer(&self, error: &h2::Error) -> Carried {
        match (of_stream(error, Stage::Asking), error.reason()) {
            (kind @ ErrorKind::GoAway, Some(Reason::NO_ERROR)) => {
                // The connection is marked as over, so that the request is sent on another connection.
                self.is_over.store(true, Ordering::Relaxed);
                Carried::Unprocessed(kind)
            }
            (kind @ ErrorKind::StreamReset, Some(Reason::REFUSED_STREAM)) => Carried::Unprocessed(kind),
            (kind, _) => Carried::Lost(kind),
        }
    }
}

struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(streams: &'a AtomicUsize) -> Self {
        streams.fetch_add(1, Ordering::Relaxed);
        Self(streams)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
