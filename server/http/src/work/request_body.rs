//! Reads request bodies within a limited time. Bodies of work may have any size, and only their first bytes are kept.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use mockserver_core::MAX_SEARCHED_BODY;

/// Maximum real time for receiving a request body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the body of a request for work, and returns its first bytes if they are kept.
pub(crate) async fn read(body: Body, is_kept: bool) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let max_kept = if is_kept { MAX_SEARCHED_BODY } else { 0 };
    match tokio::time::timeout(PATIENCE, read_all(body, max_kept)).await {
        Ok(read) => read,
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request body took longer than 30 s\n")),
    }
}

async fn read_all(mut body: Body, max_kept: usize) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let incomplete = "the request body is incomplete, or its chunks are invalid\n";
        let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, incomplete))?;
        if let Some(data) = frame.data_ref() {
            kept.extend_from_slice(&data[..data.len().min(max_kept - kept.len())]);
        }
    }
    Ok(kept)
}
