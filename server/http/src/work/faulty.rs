//! Injected faults on real connections: resets, truncated and missing answers, bytes that are not HTTP, slow bodies.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, HeaderValue};
use axum::http::response::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, SizeHint};
use mockserver_core::Fault;
use tokio::time::{Instant, Sleep};

use crate::connection::channel::{Abort, Channel};

/// Bytes that no client accepts as HTTP. They start with the same byte as every answer, because that byte may already be sent, see
/// `connection/socket.rs`.
const GARBAGE: &[u8] = b"HA! This is no HTTP.\r\n\r\n";

/// Invalid value of the header `content-length`, which makes an HTTP/2 answer malformed (RFC 9113, section 8.1.1). Bytes that are not HTTP
/// cannot be sent over HTTP/2 instead, because they would affect all streams of the connection.
const NO_LENGTH: HeaderValue = HeaderValue::from_static("garbage");

/// Real time between sending the first half of a body and resetting its stream. Without this pause, the first half would not be sent,
/// because a reset discards unsent data.
const BREAK: Duration = Duration::from_millis(10);

const MAX_DRIPS: usize = 20;

/// Returns the answer with the fault applied to it. If the fault makes the answer slow, the answer is complete after the real time
/// `until_over`.
pub(crate) async fn apply(
    fault: Fault,
    response: axum::http::Response<Full<Bytes>>,
    method: &Method,
    channel: &Channel,
    until_over: Duration,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    let has_body = may_have_body(method, parts.status);
    let body = match (fault, channel) {
        (Fault::SlowBody(_) | Fault::SlowHeaders(_), _) if !has_body || bytes.is_empty() => {
            tokio::time::sleep(until_over).await;
            Body::from(bytes)
        }
        (Fault::SlowBody(_) | Fault::SlowHeaders(_), _) => Body::new(Dripping::new(bytes, until_over)),
        (Fault::Status(_), _) => Body::from(bytes),
        (Fault::Truncate, Channel::Connection(_)) => {
            return Abort::CloseAfter(first_half(&parts, &bytes, has_body).into()).into_response();
        }
        (Fault::Truncate, Channel::Stream(_)) if has_body && !bytes.is_empty() => {
            Body::new(Dripping::breaking_off(bytes))
        }
        // Over HTTP/2, a head without a body is sent either whole or not at all, so it cannot be truncated. An answer without a body is
        // therefore reset, as with [`Fault::Reset`].
        (Fault::Reset, _) | (Fault::Truncate, Channel::Stream(_)) => return Abort::Reset.into_response(),
        (Fault::Garbage, Channel::Connection(_)) => {
            return Abort::CloseAfter(Bytes::from_static(GARBAGE)).into_response();
        }
        (Fault::Garbage, Channel::Stream(_)) => {
            parts.headers.insert(CONTENT_LENGTH, NO_LENGTH);
            Body::from(bytes)
        }
        (Fault::Close | Fault::Hang, _) => return Abort::Close.into_response(),
    };
    Response::from_parts(parts, body)
}

/// Returns true if a response with this status to a request with this method has a body (RFC 9110, section 6.4.1).
pub(crate) fn may_have_body(method: &Method, status: StatusCode) -> bool {
    *method != Method::HEAD && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

fn first_half(parts: &Parts, body: &[u8], has_body: bool) -> Vec<u8> {
    // The announced `content-length` is at least 1. So at least one byte is missing, even if the body is empty.
    let length = body.len().max(1);
    let mut head = format!("HTTP/1.1 {}\r\ncontent-length: {length}\r\n", parts.status);
    for (name, value) in &parts.headers {
        // Headers whose values are not ASCII are omitted, because the answer is incomplete anyway. Writing to a string cannot fail.
        if let Ok(value) = value.to_str() {
            let _ = write!(head, "{name}: {value}\r\n");
        }
    }
    let mut bytes = head.into_bytes();
    if has_body {
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&body[..body.len() / 2]);
    } else {
        bytes.truncate(bytes.len() / 2);
    }
    bytes
}

/// A body that is sent in small parts at even intervals, or that ends before it is complete.
#[derive(Debug)]
struct Dripping {
    rest: Bytes,
    part: usize,
    pause: Duration,
    next: Pin<Box<Sleep>>,
    missing: Option<usize>,
}

impl Dripping {
    fn new(body: Bytes, until_over: Duration) -> Self {
        let (part, first, pause) = drips(body.len(), until_over);
        Self { rest: body, part, pause, next: Box::pin(tokio::time::sleep(first)), missing: None }
    }

    fn breaking_off(body: Bytes) -> Self {
        let part = body.len() / 2;
        // If the first half of the body is empty, the stream ends only after a pause. The head is sent during this pause.
        let first = if part == 0 { BREAK } else { Duration::ZERO };
        let missing = Some(body.len() - part);
        Self { rest: body, part, pause: BREAK, next: Box::pin(tokio::time::sleep(first)), missing }
    }
}

/// Returns how a body is sent slowly: the size of each part in bytes, the delay before the first part, and the interval between parts.
fn drips(length: usize, until_over: Duration) -> (usize, Duration, Duration) {
    let part = length.div_ceil(MAX_DRIPS).max(1);
    let parts = u32::try_from(length.div_ceil(part).max(1)).unwrap_or(u32::MAX);
    let pause = until_over / parts;
    // The first delay includes the rounding remainder, so that the body ends exactly after `until_over`.
    (part, until_over.saturating_sub(pause * (parts - 1)), pause)
}

impl hyper::body::Body for Dripping {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        ready!(self.next.as_mut().poll(context));
        if self.missing == Some(self.rest.len()) {
            return Poll::Ready(Some(Err(h2::Reason::INTERNAL_ERROR.into())));
        }
        let due: Instant = self.next.deadline() + self.pause;
        self.next.as_mut().reset(due);
        let part = self.part.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(status: u16, body: &'static str, has_body: bool) -> String {
        let response = Response::builder().status(status).header("x-a", "b").body(()).unwrap();
        String::from_utf8(first_half(&response.into_parts().0, body.as_bytes(), has_body)).unwrap()
    }

    #[test]
    fn half_an_answer_is_visibly_incomplete() {
        assert_eq!(half(200, "served\n", true), "HTTP/1.1 200 OK\r\ncontent-length: 7\r\nx-a: b\r\n\r\nser");
        assert_eq!(
            half(503, "", true),
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 1\r\nx-a: b\r\n\r\n"
        );
        assert_eq!(half(204, "", false), "HTTP/1.1 204 No Content\r\nc");
    }

    #[test]
    fn a_body_drips_evenly_until_its_time_is_over() {
        let time = Duration::from_secs(2);
        for (length, parts) in [(1, 1), (7, 7), (20, 20), (21, 11), (1000, 20), (1001, 20)] {
            let (part, first, pause) = drips(length, time);
            assert_eq!(length.div_ceil(part), parts, "{length} bytes");
            assert_eq!(first + pause * u32::try_from(parts - 1).unwrap(), time);
            assert!(first >= pause && first < pause + Duration::from_micros(1));
        }
        assert_eq!(drips(7, Duration::ZERO), (1, Duration::ZERO, Duration::ZERO));
    }
}
