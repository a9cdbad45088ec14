//! HTTP/1.1 transport with hyper. Idle connections are kept in a simple list instead of a pool.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, USER_AGENT};
use http::response::Parts;
use http::{Request, Uri};
use http_body_util::Full;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use loadgen_core::{ErrorKind, SentAttempt};

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
    /// Connections that were opened before the run, and that no worker has taken yet.
    idle: Mutex<Vec<Link>>,
    /// Request to a mockserver's admin endpoint, which is sent when a connection is opened before the run.
    question: Request<Full<Bytes>>,
}

impl Shared {
    async fn connect(&self) -> Result<Link, ErrorKind> {
        let connecting = &self.common.connecting;
        let stream = connecting.open(self.dialer.dial()).await?;
        let link = Link::new(stream, Open(connecting.clone()), &self.builder).await;
        link.map_err(|error| kind(&error, Stage::Connecting))
    }

    /// Opens a connection to a mockserver, and waits until the mockserver has accepted it. Returns whether the connection is ready.
    async fn warm(&self) -> bool {
        let Ok(mut link) = self.connect().await else { return false };
        let is_ready = link.carry(self.question.clone(), |_| KeptBody::default(), |_, _| ()).await.is_ok();
        if link.is_reusable() {
            locked(&self.idle).push(link);
        }
        is_ready
    }
}

impl Transport for HyperTransport {
    const NAME: &'static str = "hyper";
    const SUMMARY: &'static str = "HTTP/1.1 with hyper and a free list of connections, which costs least";

    /// A worker's connection. It is kept between attempts, so that its waker stays that of the worker.
    type Link = Option<Box<Link>>;

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

    async fn exchange(
        &self,
        own: &mut Self::Link,
        attempt: &SentAttempt,
        step: &Step,
        mut read: impl FnMut(&Parts, &[u8]) + Send,
    ) -> Result<(), ErrorKind> {
        let Common { prepared, understanding, .. } = self.common();
        loop {
            let idle = own.take().or_else(|| locked(&self.shared.idle).pop().map(Box::new));
            let was_idle = idle.is_some();
            let mut link = match idle {
                Some(link) => link,
                // The future is boxed, because it is large, and otherwise it would be part of the future of every attempt.
                None => Box::new(Box::pin(self.shared.connect()).await?),
            };
            let request = prepared.render(attempt, step).request(Full::new);
            match link.carry(request, |status| understanding.body(status), &mut read).await {
                Ok(()) => {
                    *own = Some(link).filter(|link| link.is_reusable());
                    return Ok(());
                }
                // The server closed the idle connection before this request, and hyper returned the request unsent. So the request is sent
                // on another connection. It is built again for that, because keeping a copy would double the memory of every attempt.
                Err(Lost { is_unsent: true, .. }) if was_idle => {}
                Err(Lost { kind, .. }) => return Err(kind),
            }
        }
    }

    /// Does nothing, because a connection reports its loss itself when it is dropped.
    fn on_lost(&self) {}
}

/// An open connection that carries one request at a time. Dropping this value closes the connection.
///
/// The connection reads and writes only while it carries a request. If the server closes it meanwhile, the next request notices: hyper
/// reads before it writes.
pub(crate) struct Link {
    sender: SendRequest<Full<Bytes>>,
    /// `None` once the connection is closed.
    connection: Option<Connection<TokioIo<Stream>, Full<Bytes>>>,
    _open: Open,
}

/// Failure of a request.
struct Lost {
    kind: ErrorKind,
    /// True if no part of the request was sent.
    is_unsent: bool,
}

impl Link {
    async fn new(stream: Stream, open: Open, builder: &Builder) -> hyper::Result<Self> {
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let mut link = Self { sender, connection: Some(connection), _open: open };
        go_on(&mut link.connection, &mut Context::from_waker(Waker::noop()));
        Ok(link)
    }

    /// Sends a request, reads its answer completely, and passes it to `read`. `kept` returns the empty body of an answer with a given status,
    /// to which the first bytes are added.
    fn carry(
        &mut self,
        request: Request<Full<Bytes>>,
        kept: impl Fn(u16) -> KeptBody,
        mut read: impl FnMut(&Parts, &[u8]),
    ) -> impl Future<Output = Result<(), Lost>> {
        let Self { sender, connection, .. } = self;
        let response = sender.try_send_request(request);
        let mut exchange = Box::pin(async move {
            let response = response.await.map_err(|error| {
                let is_unsent = error.message().is_some();
                Lost { kind: kind(&error.into_error(), Stage::Asking), is_unsent }
            })?;
            let (mut head, body) = response.into_parts();
            let body = drain(body, kept(head.status.as_u16()), &mut head.headers).await;
            let lost = |error| Lost { kind: kind(&error, Stage::Answering), is_unsent: false };
            read(&head, &body.map_err(lost)?);
            Ok(())
        });
        async move {
            let mut is_begun = false;
            let answer = poll_fn(|context| {
                // hyper's two halves, the connection and the exchange, wake each other. That would wake this task although it polls both
                // anyway. So both are polled quietly, and only the last poll of the connection gets the waker of this task: it waits for
                // the network, and for what the last poll of the exchange takes from it.
                let mut quiet = Context::from_waker(Waker::noop());
                if std::mem::replace(&mut is_begun, true) {
                    go_on(connection, &mut quiet);
                    if let answer @ Poll::Ready(_) = exchange.as_mut().poll(&mut quiet) {
                        return answer;
                    }
                }
                go_on(connection, context);
                exchange.as_mut().poll(&mut quiet)
            });
            let answer = answer.await;
            if !sender.is_ready() {
                go_on(connection, &mut Context::from_waker(Waker::noop()));
            }
            answer
        }
    }

    /// Returns whether the connection can carry another request.
    fn is_reusable(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Lets the connection read and write. A connection that is closed is dropped, which returns a request that it has not begun to send.
fn go_on(connection: &mut Option<Connection<TokioIo<Stream>, Full<Bytes>>>, context: &mut Context<'_>) {
    // The error of the connection is ignored here, because the request in flight receives it, too.
    if connection.as_mut().is_some_and(|open| Pin::new(open).poll(context).is_ready()) {
        *connection = None;
    }
}
