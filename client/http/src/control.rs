//! Commands from other threads to a run in progress: stop, abort, take a snapshot.

use std::sync::{Mutex, MutexGuard, PoisonError};

use loadgen_core::Snapshot;
use tokio::sync::Notify;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Send no more attempts, wait a short time for the attempts in flight, then end the run.
    Stop,
    Abort,
    Snapshot,
}

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
    pub fn ask(&self, command: Command) {
        locked(&self.commands).push(command);
        self.wake.notify_one();
    }

    /// Copies the latest published snapshot of the run to `into`. Returns the number of connections opened so far, and whether the run is
    /// over.
    pub fn latest(&self, into: &mut Snapshot) -> (u64, bool) {
        let latest = locked(&self.latest);
        into.clone_from(&latest.snapshot);
        (latest.connections, latest.over)
    }

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

/// Locks a mutex. A poisoned lock is used like any other, because a writer that panics leaves no partial change behind.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}
