//! That the server stops, told to every connection.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set once. To ask costs next to nothing, so that it can be asked with every request.
#[derive(Debug, Default)]
pub(crate) struct Stopping {
    now: AtomicBool,
    told: Notify,
}

impl Stopping {
    /// From now on the server stops.
    pub(crate) fn stop(&self) {
        self.now.store(true, Ordering::Release);
        self.told.notify_waiters();
    }

    /// Whether it stops.
    pub(crate) fn is_now(&self) -> bool {
        self.now.load(Ordering::Acquire)
    }

    /// Returns when it stops.
    pub(crate) async fn told(&self) {
        let told = self.told.notified();
        // Whoever looked before it was listened for would miss it.
        if !self.is_now() {
            told.await;
        }
    }
}
