//! Limits of one connection, for both HTTP versions.

use std::time::Duration;

/// Maximum size in bytes, and maximum number of headers, of a request's head (request line and headers).
pub(crate) const MAX_HEAD: u32 = 64 << 10;
pub(crate) const MAX_HEADERS: usize = 100;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum real time between two requests of a connection. It is also the maximum time for receiving a request's head. It is longer
    /// than clients keep idle connections open. So no client sends a request on a connection that the server is closing.
    pub(crate) head_patience: Duration,
    pub(crate) http2_max_streams: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        // 128 streams as in nginx (`http2_max_concurrent_streams`). RFC 9113, section 6.5.2, recommends at least 100.
        Self { head_patience: Duration::from_mins(5), http2_max_streams: 128 }
    }
}
