//! The one timer: a task that sleeps until the earliest deadline and sends what is due.
//!
//! It is one of the runtime's own: with one thread, whoever is answered is on the thread that woke. Deadlines are absolute instants
//! of the state machine, so lateness of one wake-up does not add to the next.

use std::io;
use std::sync::Arc;

use timers::Timer;
use tokio::runtime::Runtime;

use crate::shared::Shared;

/// Starts the alarm; it ends with [`Shared::close`].
///
/// # Errors
/// When the system gives no timer.
pub(crate) fn start(runtime: &Runtime, shared: Arc<Shared>) -> io::Result<()> {
    let _inside = runtime.enter();
    let timer = Timer::new()?;
    runtime.spawn(watch(shared, timer));
    Ok(())
}

async fn watch(shared: Arc<Shared>, mut timer: Timer) {
    while let Some(at) = shared.ring() {
        let at = shared.clock.real(at);
        let due = async {
            // Where the system's timer fails, the runtime's has to do.
            if timer.wait_until(at).await.is_err() {
                tokio::time::sleep_until(at.into()).await;
            }
        };
        tokio::select! {
            biased;
            () = shared.earlier.notified() => {}
            () = due => {}
        }
    }
}
