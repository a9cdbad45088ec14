//! HTTP/1.1 transport with reqwest. Its retries, redirects, proxies and name look-ups are disabled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use loadgen_core::{ErrorKind, Latencies, SentAttempt};
use reqwest::{Body, Client, Request};

use crate::error_kind;
use crate::request::{Naming, Prepared, Step};
use crate::response::ResponseClassifier;
use crate::response::kept_body::KeptBody;
use crate::transport::connecting::Connecting;
use crate::transport::exchange::{Exchange, ParsedResponse, attempt, drain, looks, tag_of};
use crate::transport::http_client::client;
use crate::transport::{Answer, Transport, TransportConfig, TransportError, WarmUp, ready_in_time};

#[derive(Clone, Debug)]
pub(crate) struct ReqwestTransport {
    client: Client,
    shared: Arc<Shared>,
    connecting: Connecting,
}

#[derive(Debug)]
struct Shared {
    prepared: Prepared,
    understanding: ResponseClassifier,
    /// True if the server is a mockserver, which does not count admin requests as work.
    is_mock: bool,
}

impl Exchange for ReqwestTransport {
    fn prepared(&self) -> &Prepared {
        &self.shared.prepared
    }

    async fn exchange(&self, attempt: &SentAttempt, step: Step) -> Result<ParsedResponse, ErrorKind> {
        let rendered = self.shared.prepared.render(attempt, &step);
        let mut request = Request::new(rendered.method, rendered.url.clone());
        *request.headers_mut() = rendered.headers;
        if !rendered.body.is_empty() {
            *request.body_mut() = Some(Body::from(rendered.body));
        }
        let response = self.client.execute(request).await;
        let response = response.map_err(|error| error_kind::of_request(&error, false))?;
        let (mut head, body) = http::Response::from(response).into_parts();
        let understanding = &self.shared.understanding;
        let body = drain(body, understanding.body(head.status.as_u16()), &mut head.headers)
            .await
            .map_err(|error| error_kind::of_request(&error, true))?;
        let answer = understanding.of(head.status.as_u16(), &head.headers, &body, looks(attempt, &step));
        Ok(ParsedResponse { answer, tag: tag_of(&step, &head.headers) })
    }
}

impl Transport for ReqwestTransport {
    const NAME: &'static str = "reqwest";
    const SUMMARY: &'static str = "HTTP/1.1 with reqwest and its pool of connections";

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let connecting = Connecting::new(config.max_connections);
        let from = match config.local_addresses[..] {
            [] => None,
            [only] => Some(only),
            _ => return Err(TransportError::Addresses),
        };
        let client = client(&config.target, from, config.timeout, &connecting)?;
        let shared = Shared {
            prepared: Prepared::new(&config, Naming::Path)?,
            understanding: ResponseClassifier::new(&config),
            is_mock: config.run.is_some(),
        };
        Ok(Self { client, shared: Arc::new(shared), connecting })
    }

    /// Opens connections to a mockserver by requesting the mockserver's counts, because it does not count such requests as work. Other
    /// servers would count them as work, so they receive no requests here.
    async fn warm_up(&self, count: usize, patience: Duration) -> WarmUp {
        if !self.shared.is_mock {
            return WarmUp::default();
        }
        let wanted = count.min(self.connecting.most());
        let plain = self.shared.prepared.plain();
        let mut url = plain.url.clone();
        url.set_path("/_mock/stats");
        let question = || {
            let request = self.client.get(url.clone()).headers(plain.headers.clone());
            async move {
                let Ok(response) = request.send().await else { return false };
                // It is sufficient to read the body completely. If the connection cannot be reused, only its next use shows this.
                let body = http::Response::from(response).into_body();
                drain(body, KeptBody::default(), &mut HeaderMap::new()).await.is_ok()
            }
        };
        let opened = || usize::try_from(self.connections()).unwrap_or(usize::MAX);
        let deadline = Instant::now() + patience;
        // One round may not be enough. If answers arrive before all connects have begun, their connections are reused and fewer are opened.
        // More than four rounds would be pointless.
        for _ in 0..4 {
            let missing = wanted.saturating_sub(opened());
            let left = deadline.saturating_duration_since(Instant::now());
            let unanswered = missing - ready_in_time(missing, left, question).await;
            if unanswered > 0 {
                return WarmUp { wanted, ready: opened().saturating_sub(unanswered).min(wanted) };
            }
        }
        WarmUp { wanted, ready: wanted }
    }

    fn limit_connections(&self, connections: usize) {
        if self.shared.is_mock {
            self.connecting.limit(connections);
        }
    }

    async fn send(&self, launched: SentAttempt) -> Answer {
        let _request = self.connecting.begin_request();
        attempt(self, &launched).await
    }

    fn room(&self) -> usize {
        self.connecting.room()
    }

    async fn grown(&self) {
        self.connecting.grown().await;
    }

    fn on_lost(&self) {
        self.connecting.on_lost();
    }

    fn connections(&self) -> u64 {
        self.connecting.count()
    }

    fn connect_times(&self) -> Latencies {
        self.connecting.opened()
    }
}
