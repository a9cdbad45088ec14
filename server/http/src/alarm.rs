//! The server's only timer: a task that sleeps until the earliest deadline and then sends the answers that are due.
//!
//! The timer is a task of the runtime. So with one thread, the connections of the due answers run on the thread that woke up. Deadlines are
//! absolute instants of the state machine. Therefore a late wake-up does not delay later deadlines.

use std::io;
use std::sync::Arc;

use timers::Timer;
use tokio::runtime::Runtime;

use crate::shared::Shared;

/// Starts the timer task, which ends when [`Shared::close`] is called.
///
/// # Errors
/// Fails if the operating system provides no timer.
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
