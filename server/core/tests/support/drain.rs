//! Loop that takes every due answer, at the instants that the server returns.

use mockserver_core::{Answer, Output, Server};
use vocabulary::Instant;

/// Passes every answer that is due by `until` to `each`, in order.
pub(crate) fn drain(server: &mut Server, until: Instant, mut each: impl FnMut(Answer)) {
    let mut now = Instant::ORIGIN;
    loop {
        match server.poll(now) {
            Output::Answer(answer) => each(answer),
            Output::WaitUntil(at) if at <= until => now = at,
            Output::WaitUntil(_) | Output::Idle => return,
        }
    }
}
