//! What is asked of a mockserver besides work: its configuration, its counts, a change of its cap.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use vocabulary::wire::{self, RunId, ServerStats};

use crate::connecting::Connecting;
use crate::reqwest_transport::{TransportError, client};
use crate::target::Target;

/// Real time that a question may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most of an answer that is read.
const LONGEST_ANSWER: usize = 1 << 20;

/// What answers at a target.
#[derive(Debug)]
pub enum Probe {
    /// A mockserver.
    Mock(Box<MockServer>),
    /// Something that is no mockserver; it may be an HTTP server or not.
    Other,
    /// Nobody listens.
    Unreachable(reqwest::Error),
}

/// A mockserver that was recognised by its answer.
#[derive(Clone, Debug)]
pub struct MockServer {
    client: Client,
    target: Target,
    /// What `GET /_mock/config` told.
    pub config: Value,
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

impl From<reqwest::Error> for MockError {
    fn from(error: reqwest::Error) -> Self {
        // Its URL may hold the stand-in for a literal address.
        Self::NoAnswer(error.without_url())
    }
}

/// Finds out what answers at a target, by one `GET /_mock/config`.
///
/// # Errors
/// When the client cannot be set up.
pub async fn probe(target: &Target) -> Result<Probe, TransportError> {
    let client = client(target, PATIENCE, &Connecting::new(1))?;
    let mut server = MockServer { client, target: target.clone(), config: Value::Null };
    let response = match server.get("/_mock/config").send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Ok(Probe::Unreachable(error.without_url())),
        Err(_) => return Ok(Probe::Other),
    };
    let recognised = response.headers().get(wire::MOCK).is_some_and(|version| version == wire::MOCK_VERSION);
    if !recognised || response.status() != StatusCode::OK {
        return Ok(Probe::Other);
    }
    let Ok(config) = json(response).await else { return Ok(Probe::Other) };
    server.config = config;
    Ok(Probe::Mock(Box::new(server)))
}

impl MockServer {
    /// The server's counts for one run.
    ///
    /// # Errors
    /// When it does not answer, or not as a mockserver does.
    pub async fn stats(&self, run: RunId) -> Result<ServerStats, MockError> {
        let response = self.get("/_mock/stats").query(&[("run", format!("{run:016x}"))]).send().await?;
        serde_json::from_value(json(response).await?).map_err(|error| MockError::Garbage(error.to_string()))
    }

    /// Changes its configuration, all or nothing, and returns the new one.
    ///
    /// # Errors
    /// When it refuses, or does not answer as a mockserver does.
    pub async fn configure(&self, patch: &Value) -> Result<Value, MockError> {
        let url = self.target.with_path("/_mock/config").requested().clone();
        let request =
            self.client.patch(url).header("content-type", "application/json").body(patch.to_string());
        json(self.with_host(request).send().await?).await
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.with_host(self.client.get(self.target.with_path(path).requested().clone()))
    }

    fn with_host(&self, request: RequestBuilder) -> RequestBuilder {
        // Questions are rare: a connection kept from before may lead to a server that is gone.
        let request = request.timeout(PATIENCE).header("connection", "close");
        match self.target.host_header() {
            Some(host) => request.header("host", host),
            None => request,
        }
    }
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
