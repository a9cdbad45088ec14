//! Carrier senses under way: what the state machine asks, and what was heard.

use std::sync::Arc;

use loadgen_core::SenseKey;
use tokio::runtime::Handle;
use vocabulary::Instant;

use crate::clock::Clock;
use crate::mailbox::Mailbox;
use crate::transport::Transport;

/// What the server had free, and when that was known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    pub(crate) sense: SenseKey,
    pub(crate) at: Instant,
    pub(crate) free: Option<u64>,
}

/// Asks beside the attempts: the driver waits for none of it.
pub(crate) struct Sensing<T> {
    handle: Handle,
    transport: T,
    clock: Clock,
    heard: Arc<Mailbox<Heard>>,
}

impl<T: Transport> Sensing<T> {
    pub(crate) fn new(handle: Handle, transport: T, clock: Clock) -> Self {
        Self { handle, transport, clock, heard: Arc::new(Mailbox::new()) }
    }

    /// Where answers arrive.
    pub(crate) fn heard(&self) -> Arc<Mailbox<Heard>> {
        self.heard.clone()
    }

    /// Asks the server; false when it cannot be asked, and no answer will come.
    pub(crate) fn ask(&self, sense: SenseKey) -> bool {
        let Some(question) = self.transport.sense() else { return false };
        let (clock, heard) = (self.clock, self.heard.clone());
        self.handle.spawn(async move {
            let free = question.await;
            heard.put(Heard { sense, at: clock.now(), free });
        });
        true
    }
}
