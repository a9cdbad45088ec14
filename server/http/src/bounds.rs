//! Limits of one connection in either HTTP version.

use std::time::Duration;

/// Limits of a request head: bytes and number of headers.
pub(crate) const MAX_HEAD: u32 = 64 << 10;
pub(crate) const MAX_HEADERS: usize = 100;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Real time for which a connection may be silent between two requests, or take for a request's head. Longer than clients keep idle
    /// connections, so that no request is sent on a connection that the server is closing.
    pub(crate) head_patience: Duration,
    pub(crate) http2_max_streams: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        // 128 streams as in nginx (`http2_max_concurrent_streams`). RFC 9113, section 6.5.2, recommends at least 100.
        Self { head_patience: Duration::from_mins(5), http2_max_streams: 128 }
    }
}
