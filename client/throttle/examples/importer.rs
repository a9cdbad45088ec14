//! Imports items from an API that throttles: all requests at once, through one gate.
//!
//!     cargo run --example importer --features reqwest -- http://127.0.0.1:8080/items 20
//!
//! The strategy may be given as a third argument. Prints one line per item, and exits with 1 if one is missing.
#![expect(clippy::print_stdout, reason = "the output of a program")]

use std::process::ExitCode;

use tailback_http::Throttle;

/// Full jitter with six attempts. A wait that the server advises holds all requests, up to ten minutes. A longer one ends the request.
const STRATEGY: &str = "hold:max=10m+full-jitter:max-attempts=6,advice-limit=10m,advice-beyond=give-up";

type Failed = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failed> {
    // Not needed with reqwest's default features.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let count: u32 = arguments.next().unwrap_or_else(|| "1".to_owned()).parse()?;
    let strategy = arguments.next().unwrap_or_else(|| STRATEGY.to_owned());

    let throttle = Throttle::new(strategy.parse()?)?;
    let client = reqwest::Client::builder().timeout(std::time::Duration::from_secs(30)).build()?;
    let import = async |item: u32| -> Result<String, Failed> {
        let response =
            throttle.run_idempotent(|_attempt| client.get(&url).query(&[("item", item)]).send()).await?;
        Ok(response.error_for_status()?.text().await?)
    };
    let imports = (0..count).map(import);
    let mut missing = 0;
    for (item, imported) in futures_util::future::join_all(imports).await.into_iter().enumerate() {
        match imported {
            Ok(text) => println!("item {item}: {} bytes", text.len()),
            Err(error) => {
                missing += 1;
                eprintln!("item {item} is missing: {error}");
            }
        }
    }
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
