//! What other threads may ask of a run that goes on: stop, abort, show yourself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use loadgen_core::Snapshot;
use tokio::sync::Notify;

/// Asked of a run by another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Send nothing more, wait a moment for what is in flight, then end.
    Stop,
    /// End at once.
    Abort,
    /// Copy what is measured, for [`Control::latest`].
    Snapshot,
}

/// Shared between a run and whoever watches it.
#[derive(Default)]
pub struct Control {
    commands: Mutex<Vec<Command>>,
    wake: Notify,
    latest: Mutex<Latest>,
}

#[derive(Default)]
struct Latest {
    snapshot: Snapshot,
    connections: u64,
    over: bool,
}

impl Control {
    /// Asks for something; it is done as soon as the run gets to it.
    pub fn ask(&self, command: Command) {
        locked(&self.commands).push(command);
        self.wake.notify_one();
    }

    /// Copies the latest snapshot that was asked for, and says whether the run is over. Returns the number of
    /// connections opened, too.
    pub fn latest(&self, into: &mut Snapshot) -> (u64, bool) {
        let latest = locked(&self.latest);
        into.clone_from(&latest.snapshot);
        (latest.connections, latest.over)
    }

    /// Returns when something was asked.
    pub(crate) async fn asked(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn take(&self) -> Vec<Command> {
        std::mem::take(&mut locked(&self.commands))
    }

    pub(crate) fn publish(&self, connections: u64, over: bool, fill: impl FnOnce(&mut Snapshot)) {
        let mut latest = locked(&self.latest);
        fill(&mut latest.snapshot);
        latest.connections = connections;
        latest.over = over;
    }
}

/// A thread that panicked while it held the lock leaves data that is still good to look at.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}
