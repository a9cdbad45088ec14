//! Reads request bodies, with limits on their size and time.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// Maximum size of a request body, in bytes.
const LONGEST: usize = 1 << 20;

/// Maximum real time for receiving a request body.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn read(body: Body, is_kept: bool) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    match tokio::time::timeout(PATIENCE, read_all(body, is_kept)).await {
        Ok(read) => read,
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request body took longer than 30 s\n")),
    }
}

async fn read_all(body: Body, is_kept: bool) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let mut body = Limited::new(body, LONGEST);
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                (StatusCode::PAYLOAD_TOO_LARGE, "the request body is longer than 1 MiB, the maximum\n")
            } else {
                (StatusCode::BAD_REQUEST, "the request body is incomplete, or its chunks are invalid\n")
            }
        })?;
        if let Some(data) = frame.data_ref().filter(|_| is_kept) {
            kept.extend_from_slice(data);
        }
    }
    Ok(kept)
}
