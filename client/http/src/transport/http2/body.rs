//! Body of a response on an HTTP/2 stream, read through the same trait as the body of any other response.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use http_body::{Body, Frame};

/// Body of a stream. Reading data permits the server to send more (flow control, RFC 9113, section 5.2).
pub(super) struct StreamBody(pub(super) RecvStream);

impl Body for StreamBody {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let Some(chunk) = ready!(self.0.poll_data(context)) else {
            let trailers = ready!(self.0.poll_trailers(context)).transpose();
            return Poll::Ready(trailers.map(|trailers| trailers.map(Frame::trailers)));
        };
        let chunk = chunk.and_then(|chunk| {
            self.0.flow_control().release_capacity(chunk.len())?;
            Ok(Frame::data(chunk))
        });
        Poll::Ready(Some(chunk))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
}
