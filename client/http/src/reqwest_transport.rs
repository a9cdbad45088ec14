//! reqwest as a transport: its retries, redirects, proxies and name look-ups are off on purpose.

use std::time::Duration;

use http::header::{HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use loadgen_core::{Latencies, Launched, ServerSeen};
use reqwest::{Body, Client, Request, Response, Url};
use tailback::{Failure, Outcome, Status};
use vocabulary::{TimeScale, wire};

use crate::advice::advice;
use crate::classify::Classifier;
use crate::connecting::Connecting;
use crate::target::Target;
use crate::transport::{Answer, Transport};

/// The most of an answer's body that is read; a longer one counts as a transport failure.
const LONGEST_BODY: u64 = 64 << 20;

// Parsed once, not per attempt.
const OP: HeaderName = HeaderName::from_static(wire::OP);
const ATTEMPT: HeaderName = HeaderName::from_static(wire::ATTEMPT);
const CLIENT: HeaderName = HeaderName::from_static(wire::CLIENT);
const BUSY: HeaderName = HeaderName::from_static(wire::BUSY);
const CAP: HeaderName = HeaderName::from_static(wire::CAP);

/// What every attempt of a run sends.
#[derive(Clone, Debug, Default)]
pub struct RequestTemplate {
    /// The method.
    pub method: Method,
    /// Headers besides those of the run.
    pub headers: HeaderMap,
    /// The body.
    pub body: bytes::Bytes,
}

/// Headers by which a mockserver knows the run; sent to nobody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunHeaders {
    /// The run's id.
    pub run: wire::RunId,
    /// The run's seed.
    pub seed: u64,
}

/// The client could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The certificates to trust could not be read.
    #[error("the certificates given by `--cacert` could not be read as PEM")]
    Roots(#[source] reqwest::Error),
    /// A header value that HTTP does not allow.
    #[error("the target's host cannot be sent as a header")]
    Host(#[source] http::header::InvalidHeaderValue),
    /// Anything else.
    #[error("the HTTP client could not be set up")]
    Client(#[source] reqwest::Error),
}

/// Sends attempts with reqwest.
#[derive(Clone, Debug)]
pub struct ReqwestTransport {
    client: Client,
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: bytes::Bytes,
    run: Option<RunHeaders>,
    classifier: Classifier,
    /// Advice comes in real time.
    scale: TimeScale,
    connecting: Connecting,
}

impl ReqwestTransport {
    /// A transport with its own pool of connections. `connect_timeout` is in real time; attempts beyond
    /// `most_connections` wait for one to be free.
    ///
    /// # Errors
    /// When the client cannot be set up (certificates, headers).
    pub fn new(
        target: &Target,
        template: RequestTemplate,
        run: Option<RunHeaders>,
        classifier: Classifier,
        connect_timeout: Duration,
        most_connections: usize,
        scale: TimeScale,
    ) -> Result<Self, TransportError> {
        let connecting = Connecting::new(most_connections);
        let client = client(target, connect_timeout, &connecting)?;
        let mut headers = template.headers;
        if let Some(host) = target.host_header() {
            headers.entry(HOST).or_insert(HeaderValue::from_str(&host).map_err(TransportError::Host)?);
        }
        if let Some(run) = run {
            let id = HeaderValue::from_str(&format!("{:016x}", run.run)).map_err(TransportError::Host)?;
            headers.insert(HeaderName::from_static(wire::RUN), id);
            headers.insert(HeaderName::from_static(wire::SEED), HeaderValue::from(run.seed));
        }
        Ok(Self {
            client,
            url: target.requested().clone(),
            method: template.method,
            headers,
            body: template.body,
            run,
            classifier,
            scale,
            connecting,
        })
    }

    /// Connections opened so far.
    pub fn connections(&self) -> u64 {
        self.connecting.count()
    }

    /// How long each of them took to open, in real time.
    pub fn connect_times(&self) -> Latencies {
        self.connecting.opened()
    }

    /// Opens up to `count` connections before the run, by asking a mockserver for its counts, which it does not
    /// count as work. Failures are left for the run to find.
    pub async fn warm_up(&self, count: usize) {
        let mut url = self.url.clone();
        url.set_path("/_mock/stats");
        // Answers may come back before all connects have begun and their connections be used again, so a
        // second round may be needed; more would be pointless.
        for _ in 0..4 {
            let missing = count.saturating_sub(usize::try_from(self.connections()).unwrap_or(usize::MAX));
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..missing {
                let request = self.client.get(url.clone()).headers(self.headers.clone());
                tasks.spawn(async move {
                    if let Ok(response) = request.timeout(Duration::from_secs(2)).send().await {
                        drop(response.bytes().await);
                    }
                });
            }
            tasks.join_all().await;
        }
    }

    fn request(&self, attempt: &Launched) -> Request {
        let mut request = Request::new(self.method.clone(), self.url.clone());
        let headers = request.headers_mut();
        // Room for what is added here and by the client: a map that grows is a map built twice.
        headers.reserve(self.headers.len() + 8);
        for (name, value) in &self.headers {
            headers.append(name, value.clone());
        }
        if self.run.is_some() {
            headers.insert(OP, HeaderValue::from(attempt.op));
            headers.insert(ATTEMPT, HeaderValue::from(attempt.ordinal));
            headers.insert(CLIENT, HeaderValue::from(attempt.client));
        }
        if !self.body.is_empty() {
            *request.body_mut() = Some(Body::from(self.body.clone()));
        }
        request
    }

    fn read(&self, response: &Response) -> Answer {
        let status = self.classifier.status(response.status().as_u16());
        let headers = response.headers();
        let mut advice = advice(headers);
        if let tailback::Advice::After(real) = &mut advice {
            *real = self.scale.to_experiment(*real);
        }
        let number = |name: &HeaderName| headers.get(name)?.to_str().ok()?.parse().ok();
        let server = self.run.and_then(|_| Some(ServerSeen { busy: number(&BUSY)?, cap: number(&CAP)? }));
        Answer { outcome: Outcome { status, advice }, server }
    }
}

impl Transport for ReqwestTransport {
    async fn send(&self, attempt: Launched) -> Answer {
        let failed = Answer { outcome: Outcome::plain(Status::Failed(Failure::Transport)), server: None };
        let _request = self.connecting.begin_request();
        let Ok(response) = self.client.execute(self.request(&attempt)).await else { return failed };
        let answer = self.read(&response);
        if drain(response).await { answer } else { failed }
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
}

/// Reads an answer's body to its end, so that the connection can be used again; false when that fails.
async fn drain(mut response: Response) -> bool {
    let mut left = LONGEST_BODY;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => match left.checked_sub(chunk.len() as u64) {
                Some(rest) => left = rest,
                None => return false,
            },
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// The client that every request of a run goes through.
pub(crate) fn client(
    target: &Target,
    connect_timeout: Duration,
    connecting: &Connecting,
) -> Result<Client, TransportError> {
    // Another thread may have been first; then its provider serves.
    drop(rustls::crypto::ring::default_provider().install_default());
    let host = target.requested().host_str().unwrap_or_default().to_owned();
    let mut builder = Client::builder()
        // Attempts are counted: nobody else may retry, redirect or wait.
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        // HTTP/2 would queue streams inside the client where nobody counts them.
        .http1_only()
        .tcp_nodelay(true)
        // Every connection that was opened stays open: a run sends in waves.
        .pool_max_idle_per_host(usize::MAX)
        .pool_idle_timeout(Duration::from_secs(90))
        .connect_timeout(connect_timeout)
        .connector_layer(connecting.clone())
        .resolve_to_addrs(&host, target.addresses());
    if target.url().scheme() == "http" {
        // Reading the system's certificates costs megabytes and milliseconds, for nothing.
        builder = builder.tls_certs_only([]);
    } else {
        builder = builder.tls_danger_accept_invalid_certs(target.trust().insecure);
        if let Some(pem) = &target.trust().extra_roots_pem {
            let roots = reqwest::Certificate::from_pem_bundle(pem).map_err(TransportError::Roots)?;
            builder = builder.tls_certs_only(roots);
        }
    }
    builder.build().map_err(TransportError::Client)
}
