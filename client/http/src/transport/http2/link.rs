//! HTTP/2 connection that carries several requests at once, each on its own stream.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{Request, StatusCode, response};
use http_body::{Body, Frame};
use loadgen_core::ErrorKind;
use tokio::time::timeout;

use crate::error_kind::{Stage, of_stream};
use crate::response::kept_body::KeptBody;
use crate::transport::connecting::Counted;
use crate::transport::dialer::Stream;
use crate::transport::exchange::drain;

/// Flow-control windows in bytes, per stream and per connection: the amount of data that a server may send before the client
/// has read it.
const WINDOWS: [u32; 2] = [1 << 20, 16 << 20];

/// Limit on streams that `h2` reports until the server announces its own. No server can announce this number.
const NOT_ANNOUNCED: usize = usize::MAX - 1;

/// Assumed maximum number of streams on a connection whose server announced no settings in time. RFC 9113, section 6.5.2, recommends
/// that servers permit at least this many.
const STREAMS_WITHOUT_SETTINGS: usize = 100;

/// Maximum real time that a new connection waits for the server's settings. A server sends them first (RFC 9113, section 3.4).
const SETTINGS_PATIENCE: Duration = Duration::from_secs(1);

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
    /// Starts HTTP/2 on an open connection, and waits until the server has announced how many streams it allows. Fails if client and
    /// server did not agree on HTTP/2 during the TLS handshake. `on_change` is called after the limit has changed or the connection has
    /// ended.
    pub(super) async fn open(
        stream: Stream,
        on_change: impl Fn() + Send + 'static,
    ) -> Result<Arc<Self>, ErrorKind> {
        if !stream.agreed_on(b"h2") {
            return Err(ErrorKind::Tls);
        }
        let [of_stream_bytes, of_all] = WINDOWS;
        let (sender, mut connection) = h2::client::Builder::new()
            .enable_push(false)
            .initial_max_send_streams(NOT_ANNOUNCED)
            .initial_window_size(of_stream_bytes)
            .initial_connection_window_size(of_all)
            .handshake(stream)
            .await
            .map_err(|error| of_stream(&error, Stage::Connecting))?;
        let announced = poll_fn(|context| match Pin::new(&mut connection).poll(context) {
            // Without any settings, nothing has arrived.
            Poll::Ready(Ok(())) if connection.max_concurrent_send_streams() == NOT_ANNOUNCED => {
                Poll::Ready(Err(ErrorKind::Closed))
            }
            Poll::Ready(Ok(())) => Poll::Ready(Err(ErrorKind::GoAway)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(of_stream(&error, Stage::Asking))),
            Poll::Pending if connection.max_concurrent_send_streams() == NOT_ANNOUNCED => Poll::Pending,
            Poll::Pending => Poll::Ready(Ok(())),
        });
        timeout(SETTINGS_PATIENCE, announced).await.unwrap_or(Ok(()))?;
        let is_over = Arc::<AtomicBool>::default();
        let over = is_over.clone();
        let mut limit = connection.max_concurrent_send_streams();
        tokio::spawn(poll_fn(move |context| {
            // The task ignores the error of its connection, because every stream receives the reason for the connection's end, too.
            let polled = Pin::new(&mut connection).poll(context).map(drop);
            let before = std::mem::replace(&mut limit, connection.max_concurrent_send_streams());
            over.fetch_or(polled.is_ready(), Relaxed);
            if polled.is_ready() || limit != before {
                on_change();
            }
            polled
        }));
        Ok(Arc::new(Self { sender, streams: AtomicUsize::new(0), is_over }))
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    pub(super) fn streams(&self) -> usize {
        self.streams.load(Relaxed)
    }

    /// Returns the maximum number of streams in flight. A connection that takes no more streams allows those that it still has.
    pub(super) fn allowed(&self) -> usize {
        match self.sender.current_max_send_streams() {
            _ if self.is_over() => self.streams(),
            NOT_ANNOUNCED => STREAMS_WITHOUT_SETTINGS,
            announced => announced,
        }
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
            self.is_over.store(true, Relaxed);
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
                self.is_over.store(true, Relaxed);
                Carried::Unprocessed(kind)
            }
            (kind @ ErrorKind::StreamReset, Some(Reason::REFUSED_STREAM)) => Carried::Unprocessed(kind),
            (kind, _) => Carried::Lost(kind),
        }
    }
}

/// Body of a stream. Reading data permits the server to send more (flow control, RFC 9113, section 5.2).
struct StreamBody(RecvStream);

impl Body for StreamBody {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let Some(chunk) = ready!(self.0.poll_data(context)) else {
            let trailers = ready!(self.0.poll_trailers(context)).transpose();
            return Poll::Ready(trailers.map(|trailers| trailers.map(Frame::trailers)));
        };
        let chunk = chunk.and_then(|chunk| {
            self.0.flow_control().release_capacity(chunk.len())?;
            Ok(Frame::data(chunk))
        });
        Poll::Ready(Some(chunk))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
}
