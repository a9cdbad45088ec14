//! HTTP/1.1 with connections of our own: a free list and no pool, no task but the attempt's.

mod link;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use loadgen_core::{ErrorKind, Latencies, Launched};

use crate::connecting::Connecting;
use crate::dialer::Dialer;
use crate::exchange::{Exchange, Heard, Undrained, attempt, drain, tag_of};
use crate::prepared::{Naming, Prepared, Step};
use crate::transport::{Answer, Transport, TransportConfig, TransportError};
use crate::trouble::{Stage, kind};
use crate::understanding::Understanding;
use link::Link;

/// Sends attempts over connections that are nobody else's.
#[derive(Clone)]
pub(crate) struct LeanTransport {
    shared: Arc<Shared>,
}

#[expect(clippy::vec_box, reason = "a connection is large, and moved with every attempt")]
struct Shared {
    prepared: Prepared,
    understanding: Understanding,
    dialer: Dialer,
    connecting: Connecting,
    /// Open connections without a request; the one that was used last is used first. All who take from it share a thread, so
    /// the lock is never waited for.
    idle: Mutex<Vec<Box<Link>>>,
    /// Whether the server is a mockserver, which does not count questions about itself.
    is_mock: bool,
}

impl Shared {
    #[expect(clippy::vec_box, reason = "see above")]
    fn idle(&self) -> MutexGuard<'_, Vec<Box<Link>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Box<Link>, ErrorKind> {
        let stream = self.connecting.open(self.dialer.dial()).await?;
        let link = Link::new(stream, self.connecting.clone()).await;
        link.map_err(|error| kind(&error, Stage::Connecting))
    }

    async fn put_back(&self, mut link: Box<Link>) {
        if link.can_be_used_again().await {
            self.idle().push(link);
        }
    }

    fn request(&self, attempt: &Launched, step: &Step) -> Request<Full<Bytes>> {
        let rendered = self.prepared.render(attempt, step);
        let mut request = Request::new(Full::new(rendered.body));
        *request.method_mut() = rendered.method;
        *request.uri_mut() = rendered.uri.clone();
        *request.headers_mut() = rendered.headers;
        request
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
        let drained = link.during(drain(body, self.understanding.most_body(head.status))).await;
        let body = drained.map_err(|error| match error {
            Undrained::Broken(error) => kind(&error, Stage::Answering),
            Undrained::Long => ErrorKind::LongBody,
        })?;
        // A write after a read looked when it read.
        let looked = attempt.least_free > 0 && !matches!(step, Step::Write(_));
        let answer = self.understanding.of(head.status, &head.headers, &body, looked);
        let tag = tag_of(step, &head.headers);
        self.put_back(link).await;
        Ok(Heard { answer, tag })
    }

    /// Opens a connection and, at a mockserver, sees to it that it is accepted: by a question that is no work.
    async fn warm(&self) {
        let Ok(mut link) = self.connect().await else { return };
        if self.is_mock {
            let mut request = Request::new(Full::default());
            *request.method_mut() = Method::GET;
            *request.uri_mut() = Uri::from_static("/_mock/stats");
            request.headers_mut().clone_from(&self.prepared.plain().headers);
            let Ok(response) = link.ask(request).await else { return };
            if link.during(drain(response.into_body(), 0)).await.is_err() {
                return;
            }
        }
        self.put_back(link).await;
    }
}

impl Exchange for LeanTransport {
    fn prepared(&self) -> &Prepared {
        &self.shared.prepared
    }

    async fn exchange(&self, attempt: &Launched, step: Step) -> Result<Heard, ErrorKind> {
        let shared = &*self.shared;
        let mut unsent = None;
        loop {
            let idle = shared.idle().pop();
            let was_used = idle.is_some();
            let mut link = match idle {
                Some(link) => link,
                None => shared.connect().await?,
            };
            let request = unsent.take().unwrap_or_else(|| shared.request(attempt, &step));
            match link.ask(request).await {
                Ok(response) => return shared.hear(link, response, attempt, &step).await,
                // The server closed the connection while it was idle: no request was lost on it.
                Err(mut error) if was_used && error.message().is_some() => unsent = error.take_message(),
                Err(error) => return Err(kind(&error.into_error(), Stage::Asking)),
            }
        }
    }
}

impl Transport for LeanTransport {
    const NAME: &'static str = "lean";
    const SUMMARY: &'static str = "HTTP/1.1 with hyper and connections of its own, which costs least";

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let shared = Shared {
            prepared: Prepared::new(&config, Naming::Path)?,
            understanding: Understanding::new(&config),
            dialer: Dialer::new(&config.target, &[b"http/1.1"], config.timeout)?,
            connecting: Connecting::new(config.most_connections),
            idle: Mutex::default(),
            is_mock: config.run.is_some(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn warm_up(&self, count: usize) {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..count {
            let shared = self.shared.clone();
            tasks.spawn(async move { shared.warm().await });
        }
        tasks.join_all().await;
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
