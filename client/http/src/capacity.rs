//! What a carrier sense asks over HTTP: how much a mockserver has free.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Request, Url};
use tokio::sync::Semaphore;
use vocabulary::wire::Capacity;

use crate::connecting::Connecting;
use crate::reqwest_transport::{TransportError, client};
use crate::target::Target;

/// Questions at once, each on a connection of its own. Answers take no server time, so a few suffice.
const QUESTIONS_AT_ONCE: usize = 16;

/// The most of an answer that is read.
const LONGEST_ANSWER: usize = 1024;

/// Asks on connections apart from those of attempts, which would else find theirs taken.
#[derive(Clone, Debug)]
pub(crate) struct CapacityQuestions {
    client: Client,
    url: Url,
    host: Option<String>,
    places: Arc<Semaphore>,
    /// Real time that a question may take, its wait for a place included.
    patience: Duration,
}

impl CapacityQuestions {
    pub(crate) fn new(target: &Target, patience: Duration) -> Result<Self, TransportError> {
        Ok(Self {
            client: client(target, patience, &Connecting::new(QUESTIONS_AT_ONCE))?,
            url: target.with_path("/_mock/capacity").requested().clone(),
            host: target.host_header(),
            places: Arc::new(Semaphore::new(QUESTIONS_AT_ONCE)),
            patience,
        })
    }

    /// Asks once; `None` when no answer comes in time, or one that makes no sense.
    pub(crate) fn ask(&self) -> impl Future<Output = Option<u64>> + Send + 'static {
        let this = self.clone();
        async move {
            let answer = async {
                let _place = this.places.acquire().await.ok()?;
                free(&this.client, this.request()?).await
            };
            tokio::time::timeout(this.patience, answer).await.ok().flatten()
        }
    }

    fn request(&self) -> Option<Request> {
        let mut request = self.client.get(self.url.clone());
        if let Some(host) = &self.host {
            request = request.header(http::header::HOST, host);
        }
        request.build().ok()
    }
}

async fn free(client: &Client, request: Request) -> Option<u64> {
    let mut response = client.execute(request).await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_ANSWER {
            return None;
        }
    }
    Some(serde_json::from_slice::<Capacity>(&body).ok()?.free)
}
