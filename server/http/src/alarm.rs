//! The one timer: a thread that sleeps until the earliest deadline and sends what is due.
//!
//! A thread of its own because the runtime's timer steps in milliseconds. Deadlines are absolute instants of the
//! state machine, so lateness of one wake-up does not add to the next.

use std::sync::{Arc, PoisonError};

use crate::shared::Shared;

/// Starts the alarm; it ends with [`Shared::close`].
pub(crate) fn start(shared: Arc<Shared>) -> std::io::Result<()> {
    std::thread::Builder::new().name("alarm".to_owned()).spawn(move || watch(&shared))?;
    Ok(())
}

fn watch(shared: &Shared) {
    let mut inner = shared.lock();
    while !inner.closed {
        inner = match shared.ring(&mut inner) {
            Some(at) => {
                let wait = shared.clock.until(at);
                if wait.is_zero() {
                    continue;
                }
                shared.alarm.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0
            }
            None => shared.alarm.wait(inner).unwrap_or_else(PoisonError::into_inner),
        };
    }
}
