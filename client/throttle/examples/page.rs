//! The code of docs/production.md, so that it is compiled. A test compares the page with this file.

use std::time::Duration;

use tailback_http::{Missing, Repeats, Seen};

type Failed = Box<dyn std::error::Error>;

async fn every_task_has_a_clone(urls: Vec<String>) -> Result<(), Failed> {
    use tailback_http::Throttle;

    let throttle = Throttle::new("preset:openai+tailback".parse()?)?;
    let client = reqwest::Client::new();
    let mut pages = tokio::task::JoinSet::new();
    for url in urls {
        let (throttle, client) = (throttle.clone(), client.clone());
        pages.spawn(async move { throttle.run(|_attempt| client.get(&url).send()).await });
    }
    while let Some(page) = pages.join_next().await {
        page??;
    }
    Ok(())
}

fn as_middleware() -> Result<reqwest_middleware::ClientWithMiddleware, Failed> {
    use tailback_http::ThrottleMiddleware;

    let client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new())
        .with(ThrottleMiddleware::per_host(&"preset:openai+tailback".parse()?)?)
        .build();
    Ok(client)
}

struct Row;

#[derive(Debug)]
enum PoolError {
    Exhausted { free_in: Duration },
    Timeout,
    Syntax,
}

struct Pool;

impl Pool {
    async fn query(&self, sql: &str) -> Result<Row, PoolError> {
        tokio::task::yield_now().await;
        match sql {
            "" => Err(PoolError::Syntax),
            "wait" => Err(PoolError::Timeout),
            "busy" => Err(PoolError::Exhausted { free_in: Duration::from_millis(10) }),
            _ => Ok(Row),
        }
    }
}

fn seen(result: &Result<Row, PoolError>) -> Seen<'_> {
    match result {
        Ok(_) => Seen::Succeeded,
        Err(PoolError::Exhausted { free_in }) => Seen::Rejected { retry_after: Some(*free_in) },
        Err(PoolError::Timeout) => Seen::NoResponse(Missing::Timeout),
        Err(_) => Seen::Fatal,
    }
}

async fn without_http(throttle: tailback_http::Throttle, pool: Pool, sql: &str) -> Result<Row, Failed> {
    let row = throttle.run_with(Repeats::All, seen, |_attempt| pool.query(sql)).await;
    row.map_err(|error| format!("{error:?}").into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    // Not needed with reqwest's default features.
    let _ = rustls::crypto::ring::default_provider().install_default();
    every_task_has_a_clone(Vec::new()).await?;
    as_middleware()?;
    let throttle = tailback_http::Throttle::new("hold+none".parse()?)?;
    without_http(throttle, Pool, "select").await?;
    Ok(())
}
