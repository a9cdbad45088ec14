//! HTTP/1.1 transport with hyper. Idle connections are kept in a simple list instead of a pool.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, USER_AGENT};
use http::response::Parts;
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use loadgen_core::{ErrorKind, SentAttempt};
use tokio::task::JoinHandle;

use super::connecting::{Connecting, Open};
use super::dialer::{Dialer, Stream};
use super::exchange::drain;
use super::{Common, KeptBody, Naming, Step, Transport, WarmUp, ready_in_time};
use crate::config::{TransportConfig, TransportError};
use crate::control::locked;
use crate::error_kind::{Stage, kind};
use crate::request::AGENT;

/// Maximum size in bytes of a request body that is copied into the buffer of the request's head. Sending one buffer takes less
/// time than sending two.
const MAX_COPIED_BODY: usize = 4 << 10;

#[derive(Clone)]
pub(crate) struct HyperTransport {
    shared: Arc<Shared>,
}

struct Shared {
    common: Common,
    dialer: Dialer,
    builder: Builder,
    /// Open connections without a request in flight. The one that was used last is used next. Only one thread uses the list, so the lock is
    /// never contended.
    idle: Mutex<Vec<Link>>,
    /// Request to a mockserver's admin endpoint, which is sent when a connection is opened before the run.
    question: Request<Full<Bytes>>,
}

impl Shared {
    async fn connect(&self) -> Result<Link, ErrorKind> {
        // The future is boxed, because the large future of a TLS handshake would otherwise be part of the future of every attempt.
        let connecting = &self.common.connecting;
        let stream = connecting.open(Box::pin(self.dialer.dial())).await?;
        let link = Link::new(stream, Open(connecting.clone()), &self.builder).await;
        link.map_err(|error| kind(&error, Stage::Connecting))
    }

    async fn send(
        &self,
        attempt: &SentAttempt,
        step: &Step,
    ) -> Result<(Response<Incoming>, Link), ErrorKind> {
        loop {
            let idle = locked(&self.idle).pop();
            let was_idle = idle.is_some();
            let mut link = match idle {
                Some(link) => link,
                None => self.connect().await?,
            };
            match link.send(self.common.prepared.render(attempt, step).request(Full::new)).await {
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
            locked(&self.idle).push(link);
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
            common: Common::new(&config, Naming::Path, Connecting::new(config.max_connections))?,
            dialer: Dialer::new(&config, &[b"http/1.1"])?,
            builder,
            idle: Mutex::default(),
            question,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn warm_up(&self, count: usize, patience: Duration) -> WarmUp {
        if !self.common().is_mock {
            return WarmUp::default();
        }
        let wanted = count.min(self.common().connecting.most());
        let warm = || {
            let shared = self.shared.clone();
            async move { shared.warm().await }
        };
        WarmUp { wanted, ready: ready_in_time(wanted, patience, warm).await }
    }

    fn common(&self) -> &Common {
        &self.shared.common
    }

    async fn exchange(&self, attempt: &SentAttempt, step: &Step) -> Result<(Parts, KeptBody), ErrorKind> {
        let (response, link) = self.shared.send(attempt, step).await?;
        let (mut head, body) = response.into_parts();
        let kept = self.common().understanding.body(head.status.as_u16());
        let body = self.shared.finish(body, kept, &mut head.headers, link).await?;
        Ok((head, body))
    }

    /// Does nothing, because the task of the connection has already reported the loss.
    fn on_lost(&self) {}
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
