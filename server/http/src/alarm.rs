//! The one timer: a thread that sleeps until the earliest deadline and sends what is due.
//!
//! A thread of its own because the runtime's timer steps in milliseconds. Deadlines are absolute instants of the
//! state machine, so lateness of one wake-up does not add to the next.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use vocabulary::EarlyWaking;

use crate::shared::Shared;

/// Starts the alarm; it ends with [`Shared::close`].
pub(crate) fn start(shared: Arc<Shared>) -> std::io::Result<()> {
    std::thread::Builder::new().name("alarm".to_owned()).spawn(move || watch(&shared))?;
    Ok(())
}

fn watch(shared: &Shared) {
    wake_exactly();
    let (started, mut waking) = (Instant::now(), EarlyWaking::default());
    let mut inner = shared.lock();
    while !inner.closed {
        inner = match shared.ring(&mut inner) {
            Some(at) => {
                let (wait, now) = (shared.clock.until(at), started.elapsed());
                let ahead = waking.ahead(now);
                if wait.is_zero() {
                    continue;
                }
                let sleep = wait.saturating_sub(ahead);
                if sleep.is_zero() {
                    drop(inner);
                    while started.elapsed() < now + wait {
                        std::hint::spin_loop();
                    }
                    waking.stayed_awake(wait);
                    shared.lock()
                } else {
                    let slept = shared.alarm.wait_timeout(inner, sleep);
                    let (inner, end) = slept.unwrap_or_else(PoisonError::into_inner);
                    if end.timed_out() {
                        waking.woken(now + sleep, started.elapsed());
                    }
                    inner
                }
            }
            None => shared.alarm.wait(inner).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

/// Timers of this thread are not to be collected with others: Linux does that within 50 µs by default (`PR_SET_TIMERSLACK`).
fn wake_exactly() {
    #[cfg(target_os = "linux")]
    // Where that is not allowed, it is as it was.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZero::new(1));
}
