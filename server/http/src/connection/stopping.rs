//! Signal that informs every connection of the server's shutdown.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Signal of the server's shutdown. It is set once, and checking it is cheap enough to be done for every request.
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
        // The flag is checked after the registration for the notification. A stop before the registration causes no notification, so only
        // the flag reveals it.
        if !self.is_now() {
            stopped.await;
        }
    }
}
