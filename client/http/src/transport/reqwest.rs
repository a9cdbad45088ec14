//! HTTP/1.1 transport with reqwest. Its retries, redirects, proxies and name look-ups are disabled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::response::Parts;
use loadgen_core::{ErrorKind, SentAttempt};
use reqwest::{Body, Client, Request};

use super::exchange::drain;
use super::http_client::client;
use super::{Common, Connecting, KeptBody, Naming, Step, Transport, WarmUp, ready_in_time};
use crate::config::{TransportConfig, TransportError};
use crate::error_kind;

#[derive(Clone, Debug)]
pub(crate) struct ReqwestTransport {
    client: Client,
    common: Arc<Common>,
}

impl Transport for ReqwestTransport {
    const NAME: &'static str = "reqwest";
    const SUMMARY: &'static str = "HTTP/1.1 with reqwest and its pool of connections";

    type Link = ();

    fn build(config: TransportConfig) -> Result<Self, TransportError> {
        let connecting = Connecting::new(config.max_connections);
        let from = match config.local_addresses[..] {
            [] => None,
            [only] => Some(only),
            _ => return Err(TransportError::Addresses),
        };
        let client = client(&config.target, from, config.timeout, &connecting)?;
        Ok(Self { client, common: Arc::new(Common::new(&config, Naming::Path, connecting)?) })
    }

    /// Opens connections to a mockserver by requesting the mockserver's counts, because it does not count such requests as work. Other
    /// servers would count them as work, so they receive no requests here.
    async fn warm_up(&self, count: usize, patience: Duration) -> WarmUp {
        if !self.common.is_mock {
            return WarmUp::default();
        }
        let wanted = count.min(self.common.connecting.most());
        let plain = self.common.prepared.plain();
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

    fn common(&self) -> &Common {
        &self.common
    }

    async fn exchange(
        &self,
        _link: &mut (),
        attempt: &SentAttempt,
        step: &Step,
        mut read: impl FnMut(&Parts, &[u8]) + Send,
    ) -> Result<(), ErrorKind> {
        let rendered = self.common.prepared.render(attempt, step);
        let mut request = Request::new(rendered.method, rendered.url.clone());
        *request.headers_mut() = rendered.headers;
        if !rendered.body.is_empty() {
            *request.body_mut() = Some(Body::from(rendered.body));
        }
        let response = self.client.execute(request).await;
        let response = response.map_err(|error| error_kind::of_request(&error, false))?;
        let (mut head, body) = http::Response::from(response).into_parts();
        let kept = self.common.understanding.body(head.status.as_u16());
        let body = drain(body, kept, &mut head.headers).await;
        // Lets the client put the connection back into its pool. Otherwise the worker's next attempt would open another one.
        tokio::task::yield_now().await;
        read(&head, &body.map_err(|error| error_kind::of_request(&error, true))?);
        Ok(())
    }

    fn on_lost(&self) {
        self.common.connecting.on_lost();
    }
}
