//! One connection of HTTP/2, and the streams on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use h2::client::SendRequest;
use http::{Request, StatusCode, response};
use loadgen_core::ErrorKind;

use super::body::StreamBody;
use crate::connecting::Connecting;
use crate::dialer::Stream;
use crate::exchange::{Undrained, drain};
use crate::trouble::{Stage, of_stream};

/// What a server may send of one answer before it waits for the client to have read, in bytes; and of all together.
const WINDOWS: [u32; 2] = [1 << 20, 16 << 20];

/// A connection with a task of its own that carries all its streams.
pub(super) struct Link {
    sender: SendRequest<Bytes>,
    streams: AtomicUsize,
    is_over: Arc<AtomicBool>,
}

/// What became of a request.
pub(super) enum Carried {
    /// An answer came whole; of its body the beginning is kept.
    Answered {
        /// Status and headers.
        head: response::Parts,
        /// The beginning.
        body: Vec<u8>,
    },
    /// The connection took no request any more.
    Unsent,
    /// No answer that can be used.
    Lost(ErrorKind),
}

impl Link {
    /// HTTP/2 over an open connection; nothing when TLS did not agree on it. `streams` may be under way before the server
    /// has said how many it allows.
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
        let told = is_over.clone();
        tokio::spawn(async move {
            // Every stream hears itself why the connection ended.
            drop(connection.await);
            told.store(true, Ordering::Relaxed);
            connecting.on_lost();
        });
        Ok(Arc::new(Self { sender, streams: AtomicUsize::new(0), is_over }))
    }

    /// Whether it takes no streams any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Streams under way.
    pub(super) fn streams(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    /// Streams that the server allows at once.
    pub(super) fn allowed(&self) -> usize {
        if self.is_over() { 0 } else { self.sender.current_max_send_streams() }
    }

    /// Sends a request and reads its answer to the end; `most_kept` says how much of the body is kept.
    pub(super) async fn carry(
        &self,
        request: Request<()>,
        body: Bytes,
        most_kept: impl Fn(StatusCode) -> usize,
    ) -> Carried {
        let _stream = Counted::new(&self.streams);
        let Ok(mut sender) = self.sender.clone().ready().await else {
            // Whoever asks for a connection next gets another.
            self.is_over.store(true, Ordering::Relaxed);
            return Carried::Unsent;
        };
        let is_whole = body.is_empty();
        let (response, mut rest) = match sender.send_request(request, is_whole) {
            Ok(sent) => sent,
            Err(error) => return Carried::Lost(of_stream(&error, Stage::Asking)),
        };
        if !is_whole && let Err(error) = rest.send_data(body, true) {
            return Carried::Lost(of_stream(&error, Stage::Asking));
        }
        let (head, body) = match response.await {
            Ok(response) => response.into_parts(),
            Err(error) => return Carried::Lost(of_stream(&error, Stage::Asking)),
        };
        match drain(StreamBody(body), most_kept(head.status)).await {
            Ok(body) => Carried::Answered { head, body },
            Err(Undrained::Broken(error)) => Carried::Lost(of_stream(&error, Stage::Answering)),
            Err(Undrained::Long) => Carried::Lost(ErrorKind::LongBody),
        }
    }
}

/// One more stream, for as long as it lives.
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
