//! HTTP/1.1 with connections of our own: a free list and no pool, no task but the attempt's, and plain answers read where they lie.
//! As soon as an answer is anything else, its connection goes over to hyper with all that was heard on it, and stays there.

mod answer_head;
mod link;
mod plain;
mod replayed;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use loadgen_core::{ErrorKind, Latencies, Launched};

use crate::connecting::{Connecting, Open};
use crate::dialer::Dialer;
use crate::exchange::{Exchange, Heard, Undrained, attempt, drain, looks, tag_of};
use crate::prepared::{AGENT, Prepared, Step};
use crate::template::Naming;
use crate::transport::{Answer, Transport, TransportConfig, TransportError, WarmUp, ready_in_time};
use crate::trouble::{Stage, kind};
use crate::understanding::Understanding;
use link::Link;
use plain::{Plain, PlainLink};

/// Sends attempts over connections that are nobody else's.
#[derive(Clone)]
pub(crate) struct HyperTransport {
    shared: Arc<Shared>,
}

struct Shared {
    prepared: Prepared,
    understanding: Understanding,
    dialer: Dialer,
    connecting: Connecting,
    /// Open connections without a request; the one that was used last is used first. All who take from it share a thread, so
    /// the lock is never waited for.
    idle: Mutex<Vec<Connection>>,
    /// Whether the server is a mockserver, which does not count questions about itself.
    is_mock: bool,
    /// Such a question, as it is sent.
    question: Vec<u8>,
}

/// An open connection without a request. Both kinds are boxed: they are large, and moved with every attempt.
enum Connection {
    /// All that came on it was plain.
    Plain(Box<PlainLink>),
    /// Something on it was not, or is not to be.
    General(Box<Link>),
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Box<PlainLink>, ErrorKind> {
        let stream = self.connecting.open(self.dialer.dial()).await?;
        Ok(Box::new(PlainLink::new(stream, Open(self.connecting.clone()))))
    }

    fn request(&self, attempt: &Launched, step: &Step) -> Request<Full<Bytes>> {
        let rendered = self.prepared.render(attempt, step);
        let mut request = Request::new(Full::new(rendered.body));
        *request.method_mut() = rendered.method;
        *request.uri_mut() = rendered.uri.clone();
        *request.headers_mut() = rendered.headers;
        request
    }

    /// Sends a request in the general way; nothing when the connection had ended before.
    async fn ask(
        &self,
        mut link: Box<Link>,
        attempt: &Launched,
        step: &Step,
    ) -> Option<Result<Heard, ErrorKind>> {
        match link.ask(self.request(attempt, step)).await {
            Ok(response) => Some(self.hear(link, response, attempt, step).await),
            Err(error) if error.message().is_some() => None,
            Err(error) => Some(Err(kind(&error.into_error(), Stage::Asking))),
        }
    }

    /// Reads an answer to its end and leaves the connection to the next.
    async fn hear(
        &self,
        mut link: Box<Link>,
        response: Response<Incoming>,
        attempt: &Launched,
        step: &Step,
    ) -> Result<Heard, ErrorKind> {
        let (head, body) = response.into_parts();
        let code = head.status.as_u16();
        let drained = link.during(drain(body, self.understanding.most_body(code))).await;
        let body = drained.map_err(|error| match error {
            Undrained::Broken(error) => kind(&error, Stage::Answering),
            Undrained::Long => ErrorKind::LongBody,
        })?;
        let answer = self.understanding.of(code, &head.headers, &body, looks(attempt, step));
        let tag = tag_of(step, &head.headers);
        if link.can_be_used_again().await {
            self.idle().push(Connection::General(link));
        }
        Ok(Heard { answer, tag })
    }

    /// Sends a request in the plain way as far as it is plain; nothing when the connection had ended before.
    async fn exchange(
        &self,
        link: Box<PlainLink>,
        attempt: &Launched,
        step: &Step,
    ) -> Option<Result<Heard, ErrorKind>> {
        let understand = |code, headers: &[httparse::Header<'_>], body: &[u8]| {
            let body = &body[..body.len().min(self.understanding.most_body(code))];
            let answer = self.understanding.of(code, headers, body, looks(attempt, step));
            Heard { answer, tag: tag_of(step, headers) }
        };
        let write = |out: &mut Vec<u8>| plain::write(out, &self.prepared, attempt, step);
        match link.exchange(write, understand).await {
            Plain::Answered(heard, link) => {
                self.idle().push(Connection::Plain(link));
                Some(Ok(heard))
            }
            Plain::Ended => None,
            Plain::Other(replayed, open) => {
                let was_sent = replayed.was_asked();
                match Link::new(replayed, open).await {
                    // What was sent once is never sent again, whatever hyper makes of the connection.
                    Ok(link) => {
                        let heard = self.ask(link, attempt, step).await;
                        heard.or(was_sent.then_some(Err(ErrorKind::Closed)))
                    }
                    Err(error) => Some(Err(kind(&error, Stage::Connecting))),
                }
            }
        }
    }

    /// Opens a connection and, at a mockserver, sees to it that it is accepted: by a question that is no work. Returns whether it
    /// is ready.
    async fn warm(&self) -> bool {
        let Ok(link) = self.connect().await else { return false };
        if !self.is_mock {
            self.idle().push(Connection::Plain(link));
            return true;
        }
        let ask = |out: &mut Vec<u8>| {
            out.extend_from_slice(&self.question);
            true
        };
        let Plain::Answered((), link) = link.exchange(ask, |_, _, _| ()).await else { return false };
        self.idle().push(Connection::Plain(link));
        true
    }
}

impl Exchange for HyperTransport {
    fn prepared(&self) -> &Prepared {
        &self.shared.prepared
    }

    async fn exchange(&self, attempt: &Launched, step: Step) -> Result<Heard, ErrorKind> {
        let shared = &*self.shared;
        loop {
            let idle = shared.idle().pop();
            let was_used = idle.is_some();
            let heard = match idle {
                Some(Connection::General(link)) => shared.ask(link, attempt, &step).await,
                Some(Connection::Plain(link)) => shared.exchange(link, attempt, &step).await,
                None => shared.exchange(shared.connect().await?, attempt, &step).await,
            };
            match heard {
                Some(heard) => return heard,
                // The server closed the connection while it was idle: no request was lost on it.
                None if was_used => {}
                None => return Err(ErrorKind::Closed),
            }
        }
    }
}

impl Transport for HyperTransport {
    const NAME: &'static str = "hyper";
    const SUMMARY: &'static str = "HTTP/1.1 with hyper and connections of its own, which costs least";

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let shared = Shared {
            prepared: Prepared::new(&config, Naming::Path)?,
            understanding: Understanding::new(&config),
            dialer: Dialer::new(&config, &[b"http/1.1"])?,
            connecting: Connecting::new(config.most_connections),
            idle: Mutex::default(),
            is_mock: config.run.is_some(),
            question: format!(
                "GET /_mock/capacity HTTP/1.1\r\nhost: {}\r\nuser-agent: {AGENT}\r\n\r\n",
                config.target.authority()
            )
            .into_bytes(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn warm_up(&self, count: usize, patience: Duration) -> WarmUp {
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

    async fn send(&self, launched: Launched) -> Answer {
        let _request = self.shared.connecting.begin_request();
        attempt(self, &launched).await
    }

    fn room(&self) -> usize {
        self.shared.connecting.room()
    }

    async fn grown(&self) {
        self.shared.connecting.grown().await;
    }

    /// It was noticed when the connection was dropped.
    fn on_lost(&self) {}

    fn connections(&self) -> u64 {
        self.shared.connecting.count()
    }

    fn connect_times(&self) -> Latencies {
        self.shared.connecting.opened()
    }
}
