//! What one connection may do, whichever HTTP it speaks.

use std::time::Duration;

/// Request heads: bytes and number of headers.
pub(crate) const LARGEST_HEAD: u32 = 64 << 10;
pub(crate) const MAX_HEADERS: usize = 100;

/// What one connection may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Real time that it may be silent between two requests, or take for a request's head. Longer than clients keep idle connections,
    /// so that no request meets a closing one.
    pub(crate) head_patience: Duration,
    /// Requests at once over HTTP/2.
    pub(crate) http2_max_streams: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        // As many streams as nginx has (`http2_max_concurrent_streams`); RFC 9113, section 6.5.2, wants 100 at least.
        Self { head_patience: Duration::from_mins(5), http2_max_streams: 128 }
    }
}
