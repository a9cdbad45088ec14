//! How runs are stopped from outside.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use loadgen_http::Control;
use tokio::runtime::Runtime;

/// Interval between two looks at whether a wait is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Whether runs are to end before they are over.
pub trait Stop: Sync {
    /// Who asked for that, as results name it.
    fn asked_by(&self) -> Option<&'static str>;

    /// Number of stop requests so far.
    fn times_asked(&self) -> u32 {
        u32::from(self.asked_by().is_some())
    }

    /// The run over HTTP that goes on now, for who passes on how urgent it is; then none.
    fn is_running(&self, _control: Option<Arc<Control>>) {}
}

/// Waits for a server's response, at most until the next stop request.
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
            () = asked_more_than(before, stop) => None,
        }
    })
}

/// Returns once there have been more than `times` stop requests.
pub(crate) async fn asked_more_than(times: u32, stop: &dyn Stop) {
    while stop.times_asked() <= times {
        tokio::time::sleep(LOOK).await;
    }
}

/// Nobody stops anything.
pub struct Never;

impl Stop for Never {
    fn asked_by(&self) -> Option<&'static str> {
        None
    }
}
