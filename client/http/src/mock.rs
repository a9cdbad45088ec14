//! What is asked of a mockserver besides work: its configuration, its counts, a change of it.

use std::time::Duration;

use http::header::AUTHORIZATION;
use loadgen_core::{ClientShard, ErrorKind};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use vocabulary::wire::{self, ConfigChange, NotReleased, Refusal, Released, RunId, ServerState, ServerStats};

use crate::connecting::Connecting;
use crate::http_client::client;
use crate::target::Target;
use crate::transport::TransportError;
use crate::trouble;

/// Real time that a question may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most of an answer that is read.
const LONGEST_ANSWER: usize = 1 << 20;

/// What answers at a target.
#[derive(Debug)]
pub enum Probe {
    /// A mockserver.
    Mock(Box<MockServer>),
    /// A mockserver that does not let this client use its endpoints, and its reason.
    Refused(String),
    /// A mockserver that a gateway asked for another host than this client did, and for that refuses its endpoints: this host.
    Gateway(String),
    /// Something that is no mockserver; it may be an HTTP server or not.
    Other,
    /// A server that speaks TLS, and was asked over plain HTTP.
    SpeaksTls,
    /// No connection, for this kind of reason.
    Unreachable(reqwest::Error, ErrorKind),
}

/// A mockserver that was recognised by its answer.
#[derive(Clone, Debug)]
pub struct MockServer {
    client: Client,
    target: Target,
    /// What `GET /_mock/config` answered: for whoever knows the types of its configuration.
    pub config: Value,
    /// What else is there.
    pub state: ServerState,
}

/// A question to a mockserver failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// No answer.
    #[error("the mockserver did not answer")]
    NoAnswer(#[source] reqwest::Error),
    /// Not the answer of a mockserver of this version.
    #[error("the mockserver's answer could not be read: {0}")]
    Garbage(String),
    /// The server refused.
    #[error("the mockserver refused with {status}: {text}")]
    Refused {
        /// Its status.
        status: StatusCode,
        /// Its words.
        text: String,
    },
}

/// A barrier did not let go.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BarrierError {
    /// Not all came in time.
    #[error("{}{}", .0.error, missing(&.0.missing))]
    NotFilled(NotReleased),
    /// This one contradicts others, or is no shard.
    #[error("{0}")]
    Refused(String),
    /// The server could not be asked.
    #[error(transparent)]
    Mock(#[from] MockError),
}

/// Who did not come, in words.
fn missing(missing: &[u32]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let named: Vec<String> = missing.iter().take(10).map(ToString::to_string).collect();
    let more = if missing.len() > named.len() { " …" } else { "" };
    format!("; missing: {}{more}", named.join(", "))
}

impl From<reqwest::Error> for MockError {
    fn from(error: reqwest::Error) -> Self {
        // Its URL may hold the stand-in for a literal address.
        Self::NoAnswer(error.without_url())
    }
}

/// Finds out what answers at a target, by one `GET /_mock/config`; a second one brings the token when a mockserver wants it.
///
/// # Errors
/// When the client cannot be set up.
pub async fn probe(target: &Target) -> Result<Probe, TransportError> {
    let client = client(target, None, PATIENCE, &Connecting::new(1))?;
    // Servers that are no mockserver never see the token.
    let (config, state) = (Value::Null, ServerState::default());
    let mut server = MockServer { client, target: target.clone().with_admin(None), config, state };
    let mut answer = server.introduce().await;
    if matches!(answer, Probe::Refused(_) | Probe::Gateway(_)) && target.admin().is_some() {
        server.target = target.clone();
        answer = server.introduce().await;
    }
    Ok(answer)
}

/// Whether a server that did not understand plain HTTP would understand TLS.
async fn speaks_tls(target: &Target) -> bool {
    let Some(target) = target.over_tls() else { return false };
    let Ok(client) = client(&target, None, PATIENCE, &Connecting::new(1)) else { return false };
    match client.get(target.requested().clone()).timeout(PATIENCE).send().await {
        Ok(_) => true,
        Err(error) => !error.is_timeout() && (!error.is_connect() || trouble::is_tls_alert(&error)),
    }
}

/// Whether a server that did not understand TLS answers over plain HTTP.
async fn speaks_plainly(target: &Target) -> bool {
    let Some(target) = target.without_tls() else { return false };
    let Ok(client) = client(&target, None, PATIENCE, &Connecting::new(1)) else { return false };
    client.get(target.requested().clone()).timeout(PATIENCE).send().await.is_ok()
}

impl MockServer {
    /// What answers.
    async fn introduce(&mut self) -> Probe {
        let response = match self.get("/_mock/config").send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                let kind = match trouble::of_request(&error, false) {
                    // It was hung up on in the middle of the handshake, and no certificate was looked at.
                    ErrorKind::Tls if !trouble::is_tls(&error) && speaks_plainly(&self.target).await => {
                        ErrorKind::PlainHttp
                    }
                    kind => kind,
                };
                return Probe::Unreachable(error.without_url(), kind);
            }
            Err(error) if error.is_timeout() => return Probe::Other,
            // Closed, reset, or no HTTP: what a TLS server does that finds plain words.
            Err(_) if speaks_tls(&self.target).await => return Probe::SpeaksTls,
            Err(_) => return Probe::Other,
        };
        if response.status() == StatusCode::BAD_REQUEST && speaks_tls(&self.target).await {
            // Some say so in plain HTTP.
            return Probe::SpeaksTls;
        }
        let version = response.headers().get(wire::MOCK);
        if version.is_none_or(|version| version != wire::MOCK_VERSION) {
            return Probe::Other;
        }
        match json(response).await {
            Ok(config) => {
                // Whoever answers otherwise says nothing of it.
                self.state = serde_json::from_value(config.clone()).unwrap_or_default();
                self.config = config;
                Probe::Mock(Box::new(self.clone()))
            }
            Err(MockError::Refused { status: StatusCode::FORBIDDEN, text }) => self.refused(text),
            Err(_) => Probe::Other,
        }
    }

    /// What it means that the server refuses. Whoever sends a token means this mockserver: then it is no foreign one.
    fn refused(&self, text: String) -> Probe {
        let refusal: Option<Refusal> = serde_json::from_str(&text).ok();
        match refusal.and_then(|refusal| refusal.host) {
            Some(host)
                if self.target.admin().is_none() && !host.eq_ignore_ascii_case(&self.target.authority()) =>
            {
                Probe::Gateway(host)
            }
            _ => Probe::Refused(reason(text)),
        }
    }

    /// The server's counts for one run.
    ///
    /// # Errors
    /// When it does not answer, or not as a mockserver does.
    pub async fn stats(&self, run: RunId) -> Result<ServerStats, MockError> {
        let response = self.get("/_mock/stats").query(&[("run", format!("{run:016x}"))]).send().await?;
        serde_json::from_value(json(response).await?).map_err(|error| MockError::Garbage(error.to_string()))
    }

    /// Changes its configuration, to which it answers with what that is then.
    ///
    /// # Errors
    /// When it refuses, or does not answer as a mockserver does.
    pub async fn change(&self, change: &ConfigChange) -> Result<Value, MockError> {
        let url = self.target.with_path("/_mock/config").requested().clone();
        let change = serde_json::to_string(change).map_err(|error| MockError::Garbage(error.to_string()))?;
        let request = self.client.patch(url).header("content-type", "application/json").body(change);
        json(self.with_host(request).send().await?).await
    }

    /// Waits at the server's barrier with the other shards of a run, which all must name the same `plan`; for so long at most. Dropped, it frees
    /// its place there.
    ///
    /// # Errors
    /// When not all came in time, when it is refused, or does not answer as a mockserver does.
    pub async fn barrier(
        &self,
        run: &str,
        plan: &str,
        shard: ClientShard,
        patience: Duration,
    ) -> Result<Released, BarrierError> {
        let mut url = self.target.with_path("/_mock/barrier").requested().clone();
        let wait_ms = patience.as_millis();
        url.set_query(Some(&format!(
            "run={run}&plan={plan}&of={}&index={}&wait_ms={wait_ms}",
            shard.of(),
            shard.index()
        )));
        // The server tells by itself when it is time to give up.
        let request = self.with_host(self.client.post(url)).timeout(patience.saturating_add(PATIENCE));
        let response = request.send().await.map_err(MockError::from)?;
        match json(response).await {
            Ok(released) => serde_json::from_value(released)
                .map_err(|error| BarrierError::Mock(MockError::Garbage(error.to_string()))),
            Err(MockError::Refused { status: StatusCode::GATEWAY_TIMEOUT, text }) => {
                let told: NotReleased = serde_json::from_str(&text)
                    .map_err(|error| BarrierError::Mock(MockError::Garbage(error.to_string())))?;
                Err(BarrierError::NotFilled(told))
            }
            Err(MockError::Refused { status, text }) if status.is_client_error() => {
                Err(BarrierError::Refused(reason(text)))
            }
            Err(error) => Err(BarrierError::Mock(error)),
        }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.with_host(self.client.get(self.target.with_path(path).requested().clone()))
    }

    fn with_host(&self, request: RequestBuilder) -> RequestBuilder {
        // Questions are rare: a connection kept from before may lead to a server that is gone.
        let request = request.timeout(PATIENCE).header("connection", "close");
        let request = match self.target.host_header() {
            Some(host) => request.header("host", host),
            None => request,
        };
        match self.target.admin() {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }
}

/// The words of a refusal.
fn reason(text: String) -> String {
    serde_json::from_str::<Refusal>(&text).map_or(text, |refusal| refusal.error)
}

async fn json(mut response: Response) -> Result<Value, MockError> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_ANSWER {
            return Err(MockError::Garbage("it is too long".to_owned()));
        }
    }
    if !status.is_success() {
        return Err(MockError::Refused { status, text: String::from_utf8_lossy(&body).into_owned() });
    }
    serde_json::from_slice(&body).map_err(|error| MockError::Garbage(error.to_string()))
}
