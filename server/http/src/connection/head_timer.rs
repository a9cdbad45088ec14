//! The timer by which hyper limits the time for receiving a request's head on an HTTP/1 connection.
//!
//! hyper creates a sleep before each head and drops it when the head is complete. With the runtime's own sleeps, this takes the lock of the
//! runtime's timers twice per request. With this timer, all sleeps of a connection share one sleep of the runtime, which is reset only when
//! it fires.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// Timer of one connection. Each deadline must be later than all earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct HeadTimer(Arc<Mutex<Pin<Box<tokio::time::Sleep>>>>);

#[derive(Debug)]
struct HeadSleep {
    timer: HeadTimer,
    deadline: Instant,
}

impl HeadTimer {
    /// Creates the timer of a connection whose first deadline is not before `first`.
    pub(crate) fn new(first: Instant) -> Self {
        Self(Arc::new(Mutex::new(Box::pin(tokio::time::sleep_until(first.into())))))
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeadSleep { timer: self.clone(), deadline })
    }
}

impl Sleep for HeadSleep {}

impl Future for HeadSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut shared = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            ready!(shared.as_mut().poll(context));
            if shared.deadline().into_std() >= self.deadline {
                return Poll::Ready(());
            }
            shared.as_mut().reset(self.deadline.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sleep_ends_before_its_own_deadline() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            let after = |millis| start + Duration::from_millis(millis);
            let timer = HeadTimer::new(after(1));
            // Dropped before its deadline, as when a head is complete.
            drop(timer.sleep_until(after(2)));
            for millis in [3, 9] {
                timer.sleep_until(after(millis)).await;
                assert!(start.elapsed() >= Duration::from_millis(millis));
            }
        });
    }
}
