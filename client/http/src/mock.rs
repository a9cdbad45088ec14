//! Admin requests to a mockserver: for its configuration, for its counts, and to change its configuration.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use loadgen_core::ErrorKind;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use wire::{self, ConfigChange, Refusal, RunId, ServerState, ServerStats};

use crate::config::TransportError;
use crate::error_kind::{of_request, rustls_error};
use crate::target::Target;
use crate::transport::connecting::Connecting;
use crate::transport::dialer::Dialer;
use crate::transport::http_client::client;

/// Maximum duration of an admin request to a mockserver, in real time.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum size of an answer to an admin request, in bytes.
const MAX_ANSWER: usize = 1 << 20;

#[derive(Debug)]
pub enum Probe {
    Mock(Box<MockServer>),
    /// A mockserver that denies this client access to its admin endpoints. The value is the reason for the refusal.
    Refused(String),
    /// A mockserver behind a gateway. The gateway replaces the `Host` header of requests by the contained value. Because of this header,
    /// the mockserver denies access to its admin endpoints.
    Gateway(String),
    /// A server other than a mockserver. It may or may not use HTTP.
    Other,
    SpeaksTls,
    /// A server that accepts connections and received no request.
    NotAsked,
    Unreachable(Box<dyn Error + Send + Sync>, ErrorKind),
}

#[derive(Clone, Debug)]
pub struct MockServer {
    client: Client,
    target: Target,
    /// JSON answer to `GET /_mock/config`, which callers can parse if they have types for the server's configuration.
    pub config: Value,
    pub state: ServerState,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    #[error("the mockserver did not answer")]
    NoAnswer(#[source] reqwest::Error),
    /// The answer is not a valid answer of a mockserver of this version.
    #[error("the mockserver's answer could not be read: {0}")]
    Garbage(String),
    #[error("the mockserver rejected the request with {status}: {text}")]
    Refused { status: StatusCode, text: String },
}

impl From<reqwest::Error> for MockError {
    fn from(error: reqwest::Error) -> Self {
        // The URL is removed, because it may contain the placeholder host instead of the address given by the user.
        Self::NoAnswer(error.without_url())
    }
}

/// Identifies the server at a target by one `GET /_mock/config`, which does not contain the admin token. If a mockserver requires the
/// token, a second request sends it.
///
/// # Errors
/// Fails if the client cannot be set up.
pub async fn probe(target: &Target) -> Result<Probe, TransportError> {
    let client = client(target, None, PATIENCE, &Connecting::new(1))?;
    // The first request has no token, so that servers other than mockservers never receive it.
    let (config, state) = (Value::Null, ServerState::default());
    let mut server = MockServer { client, target: target.clone().with_admin(None), config, state };
    let mut answer = server.introduce().await;
    if matches!(answer, Probe::Refused(_) | Probe::Gateway(_)) && target.admin.is_some() {
        server.target = target.clone();
        answer = server.introduce().await;
    }
    // The task of a connection whose answer was not read to its end closes the connection, but runs only while this thread waits.
    tokio::task::yield_now().await;
    Ok(answer)
}

/// Opens a connection to the target and closes it. The server receives no request, so it cannot count one.
///
/// # Errors
/// Fails if the client cannot be set up.
pub async fn touch(target: &Target) -> Result<Probe, TransportError> {
    let dialer = Dialer::to(target, Arc::default(), PATIENCE, &[])?;
    Ok(match dialer.open().await {
        Ok(_) => Probe::NotAsked,
        Err((error, kind)) => Probe::Unreachable(Box::new(error), kind),
    })
}

/// Sends a request to the target by the other scheme. `None` if the target already uses the scheme `to`.
async fn answer_over(target: &Target, from: &str, to: &str) -> Option<reqwest::Result<Response>> {
    let target = target.over(from, to)?;
    let client = client(&target, None, PATIENCE, &Connecting::new(1)).ok()?;
    Some(client.get(target.requested).timeout(PATIENCE).send().await)
}

async fn speaks_tls(target: &Target) -> bool {
    // A TLS alert shows that the server uses TLS, although no TLS connection was established.
    let is_alert =
        |error: &reqwest::Error| matches!(rustls_error(error), Some(rustls::Error::AlertReceived(_)));
    answer_over(target, "http", "https").await.is_some_and(|answer| {
        answer.err().is_none_or(|error| !error.is_timeout() && (!error.is_connect() || is_alert(&error)))
    })
}

async fn speaks_plainly(target: &Target) -> bool {
    matches!(answer_over(target, "https", "http").await, Some(Ok(_)))
}

impl MockServer {
    async fn introduce(&mut self) -> Probe {
        let response = match self.get("/_mock/config").send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                let kind = match of_request(&error, false) {
                    // The server closed the connection during the handshake, before any certificate was checked. So the server may use
                    // plain HTTP, which is now checked by a plain request.
                    ErrorKind::Tls
                        if rustls_error(&error).is_none() && speaks_plainly(&self.target).await =>
                    {
                        ErrorKind::PlainHttp
                    }
                    kind => kind,
                };
                return Probe::Unreachable(Box::new(error.without_url()), kind);
            }
            Err(error) if error.is_timeout() => return Probe::Other,
            // The connection was closed or reset, or the answer was not HTTP. TLS servers usually react to plain HTTP requests in this way.
            Err(_) if speaks_tls(&self.target).await => return Probe::SpeaksTls,
            Err(_) => return Probe::Other,
        };
        if response.status() == StatusCode::BAD_REQUEST && speaks_tls(&self.target).await {
            // Some TLS servers respond to plain HTTP with status 400.
            return Probe::SpeaksTls;
        }
        let version = response.headers().get(wire::MOCK);
        if version.is_none_or(|version| version != wire::MOCK_VERSION) {
            return Probe::Other;
        }
        match json(response).await {
            Ok(config) => {
                self.state = serde_json::from_value(config.clone()).unwrap_or_default();
                self.config = config;
                Probe::Mock(Box::new(self.clone()))
            }
            Err(MockError::Refused { status: StatusCode::FORBIDDEN, text }) => self.refused(text),
            Err(_) => Probe::Other,
        }
    }

    /// Interprets a refusal of access to the admin endpoints. If the request had no token, a gateway may have changed its host. A client
    /// that sends a token intends to use exactly this mockserver. So a refusal then is no sign of a gateway.
    fn refused(&self, text: String) -> Probe {
        let refusal: Option<Refusal> = serde_json::from_str(&text).ok();
        match refusal.and_then(|refusal| refusal.host) {
            Some(host)
                if self.target.admin.is_none() && !host.eq_ignore_ascii_case(&self.target.authority()) =>
            {
                Probe::Gateway(host)
            }
            _ => Probe::Refused(reason(text)),
        }
    }

    pub async fn stats(&self, run: RunId) -> Result<ServerStats, MockError> {
        let response = self.get("/_mock/stats").query(&[("run", format!("{run:016x}"))]).send().await?;
        serde_json::from_value(json(response).await?).map_err(|error| MockError::Garbage(error.to_string()))
    }

    /// Changes the server's configuration and returns the new configuration.
    ///
    /// # Errors
    /// Fails if the server refuses, or does not answer like a mockserver.
    pub async fn change(&self, change: &ConfigChange) -> Result<Value, MockError> {
        let url = self.target.with_path("/_mock/config").requested;
        let change = serde_json::to_string(change).map_err(|error| MockError::Garbage(error.to_string()))?;
        let request = self.client.patch(url).header("content-type", "application/json").body(change);
        json(self.with_host(request).send().await?).await
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.with_host(self.client.get(self.target.with_path(path).requested))
    }

    fn with_host(&self, request: RequestBuilder) -> RequestBuilder {
        // Admin requests do not reuse connections. They are rare, so the server at the other end of an old connection may no longer exist.
        let request = request.timeout(PATIENCE).header("connection", "close");
        let request = match self.target.host_header() {
            Some(host) => request.header("host", host),
            None => request,
        };
        match &self.target.admin {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }
}

fn reason(text: String) -> String {
    serde_json::from_str::<Refusal>(&text).map_or(text, |refusal| refusal.error)
}

async fn json(mut response: Response) -> Result<Value, MockError> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            return Err(MockError::Garbage("it is too long".to_owned()));
        }
    }
    if !status.is_success() {
        return Err(MockError::Refused { status, text: String::from_utf8_lossy(&body).into_owned() });
    }
    serde_json::from_slice(&body).map_err(|error| MockError::Garbage(error.to_string()))
}
