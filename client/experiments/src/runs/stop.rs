//! Requests to stop runs before their end, such as an interrupt by the user.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use loadgen_http::Control;
use tokio::runtime::Runtime;

/// Interval between checks for stop requests while the program waits.
const LOOK: Duration = Duration::from_millis(20);

pub trait Stop: Sync {
    /// Returns the source of the stop request, in the words that results use for it. Returns `None` if no stop was requested.
    fn asked_by(&self) -> Option<&'static str>;

    fn times_asked(&self) -> u32 {
        u32::from(self.asked_by().is_some())
    }

    /// Receives the control of the current run over HTTP, and `None` after the run. The implementation uses the control to pass the urgency
    /// of a stop request on to the run.
    fn is_running(&self, _control: Option<Arc<Control>>) {}
}

/// Waits for a server's response. Returns `None` if a new stop request arrives before the response.
pub(crate) fn unless_stopped<T>(
    stop: &dyn Stop,
    runtime: &Runtime,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let before = stop.times_asked();
    runtime.block_on(async {
        tokio::select! {
            biased;
            answer = answer => Some(answer),
            () = requested_more_than(before, stop) => None,
        }
    })
}

pub(crate) async fn requested_more_than(times: u32, stop: &dyn Stop) {
    while stop.times_asked() <= times {
        tokio::time::sleep(LOOK).await;
    }
}

pub struct Never;

impl Stop for Never {
    fn asked_by(&self) -> Option<&'static str> {
        None
    }
}
