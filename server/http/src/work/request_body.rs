//! Reads request bodies within a limited time. Bodies of work may have any size, and only their first bytes are kept.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use mockserver_core::MAX_SEARCHED_BODY;

/// Maximum real time for receiving a request body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum size in bytes of a body that an admin endpoint ignores.
const MAX_IGNORED: usize = 1 << 20;

/// Reads the body of a request for work, and returns its first bytes if they are kept.
pub(crate) async fn read(body: Body, is_kept: bool) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    in_time(read_all(body, if is_kept { MAX_SEARCHED_BODY } else { 0 }, usize::MAX)).await
}

/// Reads the body of an admin request whose content has no effect.
pub(crate) async fn ignore(body: Body) -> Result<(), (StatusCode, &'static str)> {
    in_time(read_all(body, 0, MAX_IGNORED)).await.map(drop)
}

async fn in_time(
    read: impl Future<Output = Result<Vec<u8>, (StatusCode, &'static str)>>,
) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(read) => read,
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request body took longer than 30 s\n")),
    }
}

async fn read_all(
    mut body: Body,
    max_kept: usize,
    max_length: usize,
) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let (mut kept, mut left) = (Vec::new(), max_length);
    while let Some(frame) = body.frame().await {
        let incomplete = "the request body is incomplete, or its chunks are invalid\n";
        let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, incomplete))?;
        if let Some(data) = frame.data_ref() {
            let too_long = "the request body is longer than 1 MiB, the maximum\n";
            left = left.checked_sub(data.len()).ok_or((StatusCode::PAYLOAD_TOO_LARGE, too_long))?;
            kept.extend_from_slice(&data[..data.len().min(max_kept - kept.len())]);
        }
    }
    Ok(kept)
}
