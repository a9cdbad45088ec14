//! HTTP/1.1 transport with hyper. Idle connections are kept in a simple list instead of a pool.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, USER_AGENT};
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use loadgen_core::{ErrorKind, Latencies, SentAttempt};
use tokio::task::JoinHandle;

use crate::error_kind::{Stage, kind};
use crate::request::{AGENT, Naming, Prepared, Step};
use crate::response::ResponseClassifier;
use crate::response::kept_body::KeptBody;
use crate::transport::connecting::{Connecting, Open};
use crate::transport::dialer::{Dialer, Stream};
use crate::transport::exchange::{Exchange, ParsedResponse, attempt, drain, looks, tag_of};
use crate::transport::{Answer, Transport, TransportConfig, TransportError, WarmUp, ready_in_time};

/// Maximum size in bytes of a request body that is copied into the buffer of the request's head. Sending one buffer takes less
/// time than sending two.
const MAX_COPIED_BODY: usize = 4 << 10;

#[derive(Clone)]
pub(crate) struct HyperTransport {
    shared: Arc<Shared>,
}

struct Shared {
    prepared: Prepared,
    understanding: ResponseClassifier,
    dialer: Dialer,
    connecting: Connecting,
    builder: Builder,
    /// Open connections without a request in flight. The one that was used last is used next. Only one thread uses the list, so the lock is
    /// never contended.
    idle: Mutex<Vec<Link>>,
    /// True if the server is a mockserver, which does not count requests to its admin endpoint as work.
    is_mock: bool,
    /// Request to a mockserver's admin endpoint, which is sent when a connection is opened before the run.
    question: Request<Full<Bytes>>,
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Link, ErrorKind> {
        // The future is boxed, because the large future of a TLS handshake would otherwise be part of the future of every attempt.
        let stream = self.connecting.open(Box::pin(self.dialer.dial())).await?;
        let link = Link::new(stream, Open(self.connecting.clone()), &self.builder).await;
        link.map_err(|error| kind(&error, Stage::Connecting))
    }

    fn request(&self, attempt: &SentAttempt, step: &Step) -> Request<Full<Bytes>> {
        let rendered = self.prepared.render(attempt, step);
        let mut request = Request::new(Full::new(rendered.body));
        *request.method_mut() = rendered.method;
        *request.uri_mut() = rendered.uri.clone();
        *request.headers_mut() = rendered.headers;
        request
    }

    async fn send(
        &self,
        attempt: &SentAttempt,
        step: &Step,
    ) -> Result<(Response<Incoming>, Link), ErrorKind> {
        loop {
            let idle = self.idle().pop();
            let was_idle = idle.is_some();
            let mut link = match idle {
                Some(link) => link,
                None => self.connect().await?,
            };
            match link.send(self.request(attempt, step)).await {
                Ok(response) => return Ok((response, link)),
                // The server closed the idle connection before this request, and hyper returned the request unsent. So the request is sent
                // on another connection. It is built again for that, because keeping a copy would double the memory of every attempt.
                Err(error) if error.message().is_some() && was_idle => {}
                Err(error) => return Err(kind(&error.into_error(), Stage::Asking)),
            }
        }
    }

    async fn finish(
        &self,
        mut body: Incoming,
        kept: KeptBody,
        headers: &mut HeaderMap,
        mut link: Link,
    ) -> Result<KeptBody, ErrorKind> {
        let kept = drain(&mut body, kept, headers).await;
        let kept = kept.map_err(|error| kind(&error, Stage::Answering))?;
        if link.finish(body) {
            self.idle().push(link);
        }
        Ok(kept)
    }

    /// Opens a connection to a mockserver, and waits until the mockserver has accepted it. Returns whether the connection is ready.
    async fn warm(&self) -> bool {
        let Ok(mut link) = self.connect().await else { return false };
        let Ok(response) = link.send(self.question.clone()).await else { return false };
        self.finish(response.into_body(), KeptBody::default(), &mut HeaderMap::new(), link).await.is_ok()
    }
}

impl Exchange for HyperTransport {
    fn prepared(&self) -> &Prepared {
        &self.shared.prepared
    }

    async fn exchange(&self, attempt: &SentAttempt, step: Step) -> Result<ParsedResponse, ErrorKind> {
        let shared = &*self.shared;
        let (response, link) = shared.send(attempt, &step).await?;
        let (mut head, body) = response.into_parts();
        let code = head.status.as_u16();
        let kept = shared.understanding.body(code);
        let body = shared.finish(body, kept, &mut head.headers, link).await?;
        let answer = shared.understanding.of(code, &head.headers, &body, looks(attempt, &step));
        Ok(ParsedResponse { answer, tag: tag_of(&step, &head.headers) })
    }
}

impl Transport for HyperTransport {
    const NAME: &'static str = "hyper";
    const SUMMARY: &'static str = "HTTP/1.1 with hyper and a free list of connections, which costs least";

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let mut builder = Builder::new();
        builder.writev(config.request.body.len() > MAX_COPIED_BODY);
        let host = HeaderValue::from_str(&config.target.authority()).map_err(TransportError::Host)?;
        let mut question = Request::new(Full::default());
        *question.uri_mut() = Uri::from_static("/_mock/capacity");
        question.headers_mut().insert(HOST, host);
        question.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let shared = Shared {
            prepared: Prepared::new(&config, Naming::Path)?,
            understanding: ResponseClassifier::new(&config),
            dialer: Dialer::new(&config, &[b"http/1.1"])?,
            connecting: Connecting::new(config.max_connections),
            builder,
            idle: Mutex::default(),
            is_mock: config.run.is_some(),
            question,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn warm_up(&self, count: usize, patience: Duration) -> WarmUp {
        if !self.shared.is_mock {
            return WarmUp::default();
        }
        let wanted = count.min(self.shared.connecting.most());
        let warm = || {
            let shared = self.shared.clone();
            async move { shared.warm().await }
        };
        WarmUp { wanted, ready: ready_in_time(wanted, patience, warm).await }
    }

    fn limit_connections(&self, connections: usize) {
        if self.shared.is_mock {
            self.shared.connecting.limit(connections);
        }
    }

    async fn send(&self, launched: SentAttempt) -> Answer {
        let _request = self.shared.connecting.begin_request();
        attempt(self, &launched).await
    }

    fn room(&self) -> usize {
        self.shared.connecting.room()
    }

    async fn grown(&self) {
        self.shared.connecting.grown().await;
    }

    /// Does nothing, because the task of the connection has already reported the loss.
    fn on_lost(&self) {}

    fn connections(&self) -> u64 {
        self.shared.connecting.count()
    }

    fn connect_times(&self) -> Latencies {
        self.shared.connecting.opened()
    }
}

/// An open connection that carries one request at a time. Dropping this value closes the connection.
///
/// A task reads and writes on the connection, even while no request is in flight. So the task ends as soon as the server closes the
/// connection.
struct Link {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
    /// Body of the last response. It is kept, because dropping a body wakes the connection's task. The next request wakes the task anyway,
    /// so the body is dropped then. This saves one poll per request.
    last_body: Option<Incoming>,
}

impl Link {
    async fn new(stream: Stream, open: Open, builder: &Builder) -> hyper::Result<Self> {
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let task = tokio::spawn(Driver { connection, _open: open });
        Ok(Self { sender, task, last_body: None })
    }

    /// Sends a request and returns the head of its response.
    ///
    /// # Errors
    /// The error contains the reason for the failure. It also contains the request, if no part of the request was sent.
    fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>>> + use<> {
        self.last_body = None;
        self.sender.try_send_request(request)
    }

    /// Stores a response body that was read completely. Returns whether the connection can send another request.
    fn finish(&mut self, body: Incoming) -> bool {
        self.last_body = Some(body);
        self.sender.is_ready()
    }
}

/// Future that drives a connection in its task. An async block is not used, because it would store the connection twice.
struct Driver {
    connection: Connection<TokioIo<Stream>, Full<Bytes>>,
    _open: Open,
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // The error of the connection is ignored here, because the request in flight receives it, too.
        Pin::new(&mut self.connection).poll(context).map(drop)
    }
}

impl Drop for Link {
    /// Aborts the connection's task. An orderly shutdown would wait until the server reads the remaining data, which may never happen.
    fn drop(&mut self) {
        self.task.abort();
    }
}
