//! Service that answers each request with data of an API that throttles. All requests to that API share one gate, as middleware of their
//! client.
//!
//!     cargo run --example service --features reqwest-middleware -- http://127.0.0.1:8080/
//!
//! If too many requests wait for the gate, it answers at once with 503 instead of letting them pile up.
#![expect(clippy::print_stdout, reason = "the output of a program")]

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tailback_http::{Throttle, ThrottleMiddleware};

#[derive(Clone)]
struct Api {
    url: String,
    client: ClientWithMiddleware,
}

async fn page(State(api): State<Api>) -> Result<String, (StatusCode, String)> {
    let failed = |error: reqwest_middleware::Error| (StatusCode::SERVICE_UNAVAILABLE, error.to_string());
    let response = api.client.get(&api.url).send().await.map_err(failed)?;
    response.text().await.map_err(|error| failed(error.into()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Not needed with reqwest's default features.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let gate = Throttle::builder("tailback:hold-max=10m+full-jitter:max-attempts=6".parse()?)
        .deadline(Duration::from_secs(20))
        .attempt_timeout(Duration::from_secs(10))
        .max_waiting(1000);
    let client =
        ClientBuilder::new(reqwest::Client::new()).with(ThrottleMiddleware::with_settings(gate)?).build();
    let app = Router::new().route("/", get(page)).with_state(Api { url, client });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
