//! The signal by which the server's shutdown reaches every connection.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set once. Checking it is cheap enough to do so for every request.
#[derive(Debug, Default)]
pub(crate) struct Stopping {
    now: AtomicBool,
    stopped: Notify,
}

impl Stopping {
    pub(crate) fn stop(&self) {
        self.now.store(true, Ordering::Release);
        self.stopped.notify_waiters();
    }

    pub(crate) fn is_now(&self) -> bool {
        self.now.load(Ordering::Acquire)
    }

    pub(crate) async fn stopped(&self) {
        let stopped = self.stopped.notified();
        // Checked after registering, because a stop before that is not notified.
        if !self.is_now() {
            stopped.await;
        }
    }
}
